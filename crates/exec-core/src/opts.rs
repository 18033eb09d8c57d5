//! How to run it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;

use crate::{
    ByteSize, Capture, Cpus, EnvPolicy, Gpus, IsolationLevel, Limit, Limits, MountSpec, Network, WindowSize,
};

/// Everything about a run except the command. `ExecOpts::default()` is a sound choice on every backend:
/// the current directory writable, no network, the default limits, output kept up to a megabyte a stream.
///
/// What is left at its default is held as well as the backend can, and the result reports what was not; what
/// is asked for by name holds, or the run is refused.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ExecOpts {
    /// The directory the command works on.
    pub workspace: Workspace,
    /// Working directory: absolute inside the cell, or relative to the workspace. Default: the workspace.
    pub cwd: Option<PathBuf>,
    /// Variables for the command, on top of the allowed ones of the caller.
    pub env: BTreeMap<OsString, OsString>,
    /// Names of variables whose values are secrets: neither listings nor the audit log show them, wherever they appear.
    pub secret_env: BTreeSet<OsString>,
    /// Which of the caller's own variables the command sees.
    pub env_policy: EnvPolicy,
    /// What the command reads.
    pub stdin: Stdin,
    /// Give it a terminal of this size instead of pipes.
    pub tty: Option<WindowSize>,
    /// End it after this long without output.
    pub idle_timeout: Option<Duration>,
    /// Time between the polite signal and the kill. Default: 5 seconds.
    pub grace: Option<Duration>,
    /// Who it runs as.
    pub user: User,
    /// More of the host it may see.
    pub mounts: Vec<MountSpec>,
    /// Files in the workspace that stay as they are although the rest may be written: relative to it, or canonical.
    /// Those that are not there, or elsewhere, are left out: nothing is made in their place.
    pub kept_files: Vec<PathBuf>,
    /// Whether mounts of the host's most sensitive places are refused.
    pub dangerous_mounts: DangerousMounts,
    /// Its network. Default: none.
    pub network: Option<Network>,
    /// How much it may use.
    pub limits: Limits,
    /// The image to run in, for executors that have images.
    pub image: Option<String>,
    /// Graphics processors it may use, for executors that have containers. Default: none.
    pub gpus: Option<Gpus>,
    /// How much output is kept in the result.
    pub capture: Capture,
    /// Whether the cell serves this one command or stays.
    pub lifetime: Lifetime,
    /// Names for the run that show up in listings.
    pub labels: BTreeMap<String, String>,
    /// Refuse to run with less isolation than this.
    pub min_isolation: Option<IsolationLevel>,
}

impl ExecOpts {
    /// The defaults, working on this directory.
    pub fn in_workspace(path: impl Into<PathBuf>) -> Self {
        Self { workspace: Workspace { path: Some(path.into()), ..Workspace::default() }, ..Self::default() }
    }

    /// Who may write what in the workspace.
    #[must_use]
    pub fn with_workspace_mode(mut self, mode: WorkspaceMode) -> Self {
        self.workspace.mode = mode;
        self
    }

    /// Working directory.
    #[must_use]
    pub fn with_cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// One variable more.
    #[must_use]
    pub fn with_env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// One variable more, whose value neither listings nor the audit log show.
    #[must_use]
    pub fn with_secret_env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        let name = name.into();
        self.secret_env.insert(name.clone());
        self.env.insert(name, value.into());
        self
    }

    /// What the command reads.
    #[must_use]
    pub fn with_stdin(mut self, stdin: Stdin) -> Self {
        self.stdin = stdin;
        self
    }

    /// A terminal of this size instead of pipes.
    #[must_use]
    pub fn with_tty(mut self, size: WindowSize) -> Self {
        self.tty = Some(size);
        self
    }

    /// Wall time.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.limits.timeout = Limit::Exactly(timeout);
        self
    }

    /// Longest silence.
    #[must_use]
    pub fn with_idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = Some(timeout);
        self
    }

    /// Time between the polite signal and the kill.
    #[must_use]
    pub fn with_grace(mut self, grace: Duration) -> Self {
        self.grace = Some(grace);
        self
    }

    /// Who it runs as.
    #[must_use]
    pub fn with_user(mut self, user: User) -> Self {
        self.user = user;
        self
    }

    /// One mount more.
    #[must_use]
    pub fn with_mount(mut self, mount: MountSpec) -> Self {
        self.mounts.push(mount);
        self
    }

    /// Its network.
    #[must_use]
    pub fn with_network(mut self, network: Network) -> Self {
        self.network = Some(network);
        self
    }

    /// All limits at once.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Memory of all its processes together.
    #[must_use]
    pub fn with_memory(mut self, memory: ByteSize) -> Self {
        self.limits.memory = Limit::Exactly(memory);
        self
    }

    /// CPU time per wall time.
    #[must_use]
    pub fn with_cpus(mut self, cpus: Cpus) -> Self {
        self.limits.cpus = Limit::Exactly(cpus);
        self
    }

    /// Processes and threads at once.
    #[must_use]
    pub fn with_pids(mut self, pids: u32) -> Self {
        self.limits.pids = Limit::Exactly(pids);
        self
    }

    /// Bytes of output after which the run is ended.
    #[must_use]
    pub fn with_output_limit(mut self, limit: ByteSize) -> Self {
        self.limits.output = Limit::Exactly(limit);
        self
    }

    /// How much output is kept in the result.
    #[must_use]
    pub fn with_capture(mut self, capture: Capture) -> Self {
        self.capture = capture;
        self
    }

    /// Run in the session of this name: one cell for all its commands, kept until the session ends.
    #[must_use]
    pub fn in_session(mut self, name: SessionName) -> Self {
        self.lifetime = Lifetime::Session(name);
        self
    }

    /// Refuse to run with less isolation than this.
    #[must_use]
    pub fn with_min_isolation(mut self, floor: IsolationLevel) -> Self {
        self.min_isolation = Some(floor);
        self
    }
}

/// The directory a command works on. It appears inside at its own path, so that absolute paths in messages,
/// build files and git worktrees stay true.
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

/// What a command reads.
#[derive(Debug, Clone, Default)]
pub enum Stdin {
    /// Nothing: end of file at once.
    #[default]
    Empty,
    /// These bytes, then end of file.
    Bytes(Bytes),
    /// What the caller writes through [`Execution::stdin`](crate::Execution::stdin).
    Stream,
}

/// Who a command runs as.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum User {
    /// The owner of the workspace, so that files made inside belong to the caller.
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
    /// Refused with an explanation.
    #[default]
    Refuse,
    /// The caller knows what it does.
    Accept,
}

/// How long a cell lives.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum Lifetime {
    /// One command, one cell, never used again.
    #[default]
    Ephemeral,
    /// The cell of this session; `/tmp` and background processes last until the session ends.
    Session(SessionName),
}

/// Name of a session, unique per executor.
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
