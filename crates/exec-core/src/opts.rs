//! Options of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;

use crate::{
    ByteSize, Capture, Cpus, EnvPolicy, Gpus, IsolationLevel, Limit, Limits, MountSpec, Network, WindowSize,
};

/// Everything about a run except the command.
///
/// `ExecOpts::default()` is a sound choice on every backend: the current directory is writable, there is no network,
/// the default limits apply, and up to a mebibyte of each output stream is kept.
///
/// Defaults are enforced as far as the backend can, and the result reports what was not. An option set explicitly holds,
/// or the run is refused.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use exec_core::{ByteSize, ExecOpts, Limit, Network};
///
/// let opts = ExecOpts::in_workspace("/srv/project")
///     .with_env("CI", "true")
///     .with_timeout(Duration::from_secs(60))
///     .with_memory("512m".parse()?)
///     .with_network(Network::Bridge);
/// assert_eq!(opts.limits.memory, Limit::Exactly(ByteSize::mib(512)));
/// # Ok::<(), exec_core::ParseValueError>(())
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ExecOpts {
    /// The directory the command works on.
    pub workspace: Workspace,
    /// Working directory: absolute inside the cell, or relative to the workspace. Default: the workspace.
    pub cwd: Option<PathBuf>,
    /// Variables for the command, in addition to the caller's allowed ones.
    pub env: BTreeMap<OsString, OsString>,
    /// Names of variables with secret values, which are hidden in listings and in the audit log wherever they appear.
    pub secret_env: BTreeSet<OsString>,
    /// Which of the caller's variables the command inherits.
    pub env_policy: EnvPolicy,
    /// Standard input.
    pub stdin: Stdin,
    /// Give the command a terminal of this size instead of pipes.
    pub tty: Option<WindowSize>,
    /// End the run after this long without output.
    pub idle_timeout: Option<Duration>,
    /// Time between SIGTERM and SIGKILL. Default: 5 seconds.
    pub grace: Option<Duration>,
    /// The user that the command runs as.
    pub user: User,
    /// Host paths to show inside, besides the workspace.
    pub mounts: Vec<MountSpec>,
    /// Files in the workspace that stay read-only although the rest is writable: relative to the workspace, or canonical.
    /// Files that are missing or lie elsewhere are ignored; nothing is created in their place.
    pub kept_files: Vec<PathBuf>,
    /// Whether mounts of the host's most sensitive places are refused.
    pub dangerous_mounts: DangerousMounts,
    /// Network access. Default: none.
    pub network: Option<Network>,
    /// Resource limits.
    pub limits: Limits,
    /// The image to run in, for executors that have images.
    pub image: Option<String>,
    /// Graphics processors to pass through, for executors that have containers. Default: none.
    pub gpus: Option<Gpus>,
    /// How much output the result keeps.
    pub capture: Capture,
    /// Whether the cell serves this command only or belongs to a session.
    pub lifetime: Lifetime,
    /// Labels of the run, shown in listings.
    pub labels: BTreeMap<String, String>,
    /// Refuse to run with less isolation than this.
    pub min_isolation: Option<IsolationLevel>,
}

impl ExecOpts {
    /// The defaults, with this directory as the workspace.
    pub fn in_workspace(path: impl Into<PathBuf>) -> Self {
        Self { workspace: Workspace { path: Some(path.into()), ..Workspace::default() }, ..Self::default() }
    }

    /// Sets what may be written in the workspace.
    ///
    /// # Examples
    ///
    /// ```
    /// use exec_core::{ExecOpts, WorkspaceMode};
    ///
    /// let opts = ExecOpts::in_workspace("/srv/project")
    ///     .with_workspace_mode(WorkspaceMode::ReadOnly { writable: vec!["target".into()] });
    /// ```
    #[must_use]
    pub fn with_workspace_mode(mut self, mode: WorkspaceMode) -> Self {
        self.workspace.mode = mode;
        self
    }

    /// Sets the working directory: absolute inside the cell, or relative to the workspace.
    #[must_use]
    pub fn with_cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// Adds an environment variable.
    #[must_use]
    pub fn with_env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// Adds an environment variable whose value is hidden in listings and in the audit log.
    #[must_use]
    pub fn with_secret_env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        let name = name.into();
        self.secret_env.insert(name.clone());
        self.env.insert(name, value.into());
        self
    }

    /// Sets the standard input.
    #[must_use]
    pub fn with_stdin(mut self, stdin: Stdin) -> Self {
        self.stdin = stdin;
        self
    }

    /// Gives the command a terminal of this size instead of pipes.
    #[must_use]
    pub fn with_tty(mut self, size: WindowSize) -> Self {
        self.tty = Some(size);
        self
    }

    /// Limits the wall time.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.limits.timeout = Limit::Exactly(timeout);
        self
    }

    /// Limits the time without output.
    #[must_use]
    pub fn with_idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = Some(timeout);
        self
    }

    /// Sets the time between SIGTERM and SIGKILL.
    #[must_use]
    pub fn with_grace(mut self, grace: Duration) -> Self {
        self.grace = Some(grace);
        self
    }

    /// Sets the user that the command runs as.
    #[must_use]
    pub fn with_user(mut self, user: User) -> Self {
        self.user = user;
        self
    }

    /// Adds a mount.
    #[must_use]
    pub fn with_mount(mut self, mount: MountSpec) -> Self {
        self.mounts.push(mount);
        self
    }

    /// Sets the network access.
    #[must_use]
    pub fn with_network(mut self, network: Network) -> Self {
        self.network = Some(network);
        self
    }

    /// Replaces all limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Limits the memory of all processes together.
    #[must_use]
    pub fn with_memory(mut self, memory: ByteSize) -> Self {
        self.limits.memory = Limit::Exactly(memory);
        self
    }

    /// Limits the CPU time per wall time.
    #[must_use]
    pub fn with_cpus(mut self, cpus: Cpus) -> Self {
        self.limits.cpus = Limit::Exactly(cpus);
        self
    }

    /// Limits the number of processes and threads.
    #[must_use]
    pub fn with_pids(mut self, pids: u32) -> Self {
        self.limits.pids = Limit::Exactly(pids);
        self
    }

    /// Ends the run after this much output.
    #[must_use]
    pub fn with_output_limit(mut self, limit: ByteSize) -> Self {
        self.limits.output = Limit::Exactly(limit);
        self
    }

    /// Sets how much output the result keeps.
    #[must_use]
    pub fn with_capture(mut self, capture: Capture) -> Self {
        self.capture = capture;
        self
    }

    /// Runs the command in the session of this name: all its commands share one cell, which lives until the session ends.
    ///
    /// # Examples
    ///
    /// ```
    /// use exec_core::{ExecOpts, Executor, ExecutorExt, SessionName};
    ///
    /// async fn two_steps(executor: &dyn Executor) -> exec_core::Result<()> {
    ///     let session = SessionName::new("build");
    ///     let opts = ExecOpts::default().in_session(session.clone());
    ///     executor.shell("echo 1 > /tmp/state", &opts).await?;
    ///     executor.shell("cat /tmp/state", &opts).await?;
    ///     executor.end_session(&session).await
    /// }
    /// ```
    #[must_use]
    pub fn in_session(mut self, name: SessionName) -> Self {
        self.lifetime = Lifetime::Session(name);
        self
    }

    /// Refuses to run with less isolation than this.
    #[must_use]
    pub fn with_min_isolation(mut self, floor: IsolationLevel) -> Self {
        self.min_isolation = Some(floor);
        self
    }
}

/// The directory that a command works on.
///
/// It appears inside at its own path, so that absolute paths in messages, build files and git worktrees stay valid.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Workspace {
    /// Host path; default: the caller's current directory.
    pub path: Option<PathBuf>,
    /// What may be written.
    pub mode: WorkspaceMode,
}

/// What may be written in the workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum WorkspaceMode {
    /// Everything.
    #[default]
    ReadWrite,
    /// Nothing but these paths, relative to the workspace; they must exist.
    ReadOnly {
        /// The exceptions.
        writable: Vec<PathBuf>,
    },
}

/// The standard input of a command.
#[derive(Debug, Clone, Default)]
pub enum Stdin {
    /// End of file at once.
    #[default]
    Empty,
    /// These bytes, then end of file.
    Bytes(Bytes),
    /// Bytes that the caller writes through [`Execution::stdin`](crate::Execution::stdin).
    Stream,
}

/// The user that a command runs as.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum User {
    /// The owner of the workspace, so that files created inside belong to the caller.
    #[default]
    Auto,
    /// These ids.
    Id {
        /// User id.
        uid: u32,
        /// Group id.
        gid: u32,
    },
}

/// Whether mounts of the host's most sensitive places (`/`, `/etc`, home directories, `/proc`, engine sockets …)
/// are refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DangerousMounts {
    /// Refuse them and name the reason.
    #[default]
    Refuse,
    /// Allow them.
    Accept,
}

/// How long a cell lives.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum Lifetime {
    /// One cell for this command, never reused.
    #[default]
    Ephemeral,
    /// The cell of this session. `/tmp` and background processes last until the session ends.
    Session(SessionName),
}

/// The name of a session, unique per executor.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionName(String);

impl SessionName {
    /// A session of this name.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
