//! Resolves a request: every path canonical and checked, every default filled in.
//!
//! All bad input is refused here, before anything starts, with the same words for every backend. Resolving reads the
//! disk but does not change it; [`prepare`] later creates what a cell needs.

mod cwd;
mod danger;
mod fence;
mod first_sight;
mod git;
mod mounts;
mod os;
mod prepare;
mod reach;
mod user;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use exec_files::OwnPlaces;

use crate::{
    Access, Cmd, Error, ErrorKind, ExecOpts, Gpus, Lifetime, Machine, Network, Preset, ResolvedLimits,
    Result, Stdin, User, WindowSize, inherited_environment,
};

use fence::Fence;

pub(crate) use danger::holds_programs;
pub use first_sight::{accept_build_files, check_build_files, could_be_a_commands};
pub use os::FileId;
pub use prepare::{Fences, Prepared};
pub use user::NOBODY;

/// Time between SIGTERM and SIGKILL, unless the options set it.
pub const DEFAULT_GRACE: Duration = Duration::from_secs(5);

/// A valid run. [`prepare`](Self::prepare) makes it ready for a cell.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Program and arguments.
    pub argv: Vec<OsString>,
    /// The whole environment.
    pub env: BTreeMap<OsString, OsString>,
    /// Variables set by the options; the others are the caller's own.
    pub named_env: BTreeSet<OsString>,
    /// Variables with secret values.
    pub secret_env: BTreeSet<OsString>,
    /// Working directory inside.
    pub cwd: PathBuf,
    /// The workspace, canonical.
    pub workspace: PathBuf,
    /// Owner of the workspace.
    pub workspace_owner: (u32, u32),
    /// Its permission bits.
    pub workspace_mode: u32,
    /// The workspace and everything else that is visible, outermost first. In a [`Prepared`] plan, the fences that keep
    /// files unchanged follow.
    pub mounts: Vec<PlannedMount>,
    /// The mounts that keep files unchanged, until they are put up and join the others.
    fences: Vec<Fence>,
    /// Standard input.
    pub stdin: Stdin,
    /// Its terminal.
    pub tty: Option<WindowSize>,
    /// The longest time without output.
    pub idle_timeout: Option<Duration>,
    /// Time between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// The requested user; [`Plan::identity`] resolves it.
    pub user: User,
    /// The preset the limits come from.
    pub preset: Preset,
    /// The image to run in, if the caller named one.
    pub image: Option<String>,
    /// Graphics processors to pass through.
    pub gpus: Option<Gpus>,
    /// Its network, if the caller named one.
    pub network: Option<Network>,
    /// Its limits.
    pub limits: ResolvedLimits,
    /// Whether the cell serves only this command or stays.
    pub lifetime: Lifetime,
}

/// A mount whose source was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedMount {
    /// Canonical host path.
    pub source: PathBuf,
    /// Absolute path inside.
    pub target: PathBuf,
    /// Read-only or writable.
    pub access: Access,
    /// The identity of the source when it was checked.
    pub id: FileId,
}

impl Plan {
    /// Checks a request and fills in its defaults. `environment` is the caller's; nothing shown to the command may reach
    /// one of the places in `own`. Nothing on disk changes: [`prepare`](Self::prepare) creates what is missing.
    pub fn resolve(
        cmd: &Cmd,
        opts: &ExecOpts,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
        own: &OwnPlaces,
    ) -> Result<Self> {
        cmd.validate()?;
        validate_env(&opts.env)?;
        validate_limits(opts)?;
        let workspace = workspace_path(opts, own)?;
        let mounts::Planned { mounts, fences } = mounts::plan(&workspace, opts, own)?;
        let visible: Vec<_> = mounts.iter().chain(fences.iter().filter_map(Fence::found)).collect();
        refuse_spilling_inside(opts, &visible)?;
        danger::check_writable(&visible, opts.dangerous_mounts)?;
        let cwd = cwd::plan(&workspace, &visible, opts.cwd.as_deref())?;
        let mut env = inherited_environment(environment, &opts.env_policy);
        env.extend(opts.env.clone());
        Ok(Self {
            argv: cmd.argv().map(ToOwned::to_owned).collect(),
            env,
            secret_env: opts.secret_env.clone(),
            named_env: opts.env.keys().cloned().collect(),
            cwd,
            workspace_owner: os::owner(&workspace)?,
            workspace_mode: os::mode(&workspace)?,
            workspace,
            mounts,
            fences,
            stdin: opts.stdin.clone(),
            tty: opts.tty,
            idle_timeout: opts.idle_timeout,
            grace: opts.grace.unwrap_or(DEFAULT_GRACE),
            user: opts.user,
            preset: opts.limits.preset,
            image: opts.image.clone(),
            gpus: opts.gpus,
            network: opts.network,
            limits: opts.limits.resolve(Machine::this()),
            lifetime: opts.lifetime.clone(),
        })
    }

    /// Whether files in the workspace or a mount have to be kept unchanged, which takes mounts.
    pub fn has_fences(&self) -> bool {
        !self.fences.is_empty()
    }
}

impl Machine {
    /// This machine. Determined once: it does not change, and finding out reads several files.
    pub fn this() -> Self {
        static MACHINE: OnceLock<Machine> = OnceLock::new();
        *MACHINE.get_or_init(|| {
            let cpus = std::thread::available_parallelism()
                .map_or(1, |count| count.get().min(u16::MAX.into()) as u16);
            Machine { cpus, memory: os::total_memory() }
        })
    }
}

fn workspace_path(opts: &ExecOpts, own: &OwnPlaces) -> Result<PathBuf> {
    let asked = match &opts.workspace.path {
        Some(path) => path.clone(),
        None => std::env::current_dir().map_err(|error| {
            invalid("the current directory can't be found").with_source(error).with_remedy("name a workspace")
        })?,
    };
    let path = canonical(&asked, "workspace")?;
    if !path.is_dir() {
        return Err(invalid("the workspace is not a directory")
            .with_context("workspace", path.display())
            .with_remedy("name a directory"));
    }
    danger::check(&path, opts.dangerous_mounts, "workspace")?;
    reach::check(&path, own, opts.dangerous_mounts, "workspace")?;
    Ok(path)
}

/// We write output files that the caller reads, so their directory must not be writable for a command.
fn refuse_spilling_inside(opts: &ExecOpts, mounts: &[&PlannedMount]) -> Result<()> {
    let Some(spill) = &opts.capture.spill else { return Ok(()) };
    let real = spill.canonicalize().unwrap_or_else(|_| spill.clone());
    let writable = mounts.iter().filter(|mount| mount.access == Access::ReadWrite);
    if !writable.clone().any(|mount| real.starts_with(&mount.source)) {
        return Ok(());
    }
    Err(invalid(format!(
        "the directory `{}` for whole outputs can be written by the command",
        spill.display()
    ))
    .with_remedy("name one outside the workspace and the writable mounts"))
}

fn canonical(path: &Path, what: &'static str) -> Result<PathBuf> {
    path.canonicalize().map_err(|error| {
        invalid(format!("the {what} `{}` can't be used", path.display()))
            .with_source(error)
            .with_remedy(format!("name a {what} that exists and that you may read"))
    })
}

fn validate_env(env: &BTreeMap<OsString, OsString>) -> Result<()> {
    for (name, value) in env {
        let name_bytes = name.as_encoded_bytes();
        let shown = name.to_string_lossy();
        if name_bytes.is_empty() || name_bytes.contains(&b'=') || name_bytes.contains(&0) {
            return Err(invalid(format!(
                "`{}` is not a name for an environment variable",
                shown.escape_debug()
            ))
            .with_remedy("use letters, digits and underscores"));
        }
        if value.as_encoded_bytes().contains(&0) {
            return Err(invalid(format!(
                "the value of the environment variable `{shown}` contains a NUL byte"
            ))
            .with_remedy("pass such data through standard input or a file"));
        }
    }
    Ok(())
}

/// Refuses values that the types can't rule out, because zero is a number.
fn validate_limits(opts: &ExecOpts) -> Result<()> {
    let limits = &opts.limits;
    let zero_counts = [("pids", limits.pids), ("open files", limits.open_files)];
    if let Some((name, _)) = zero_counts.iter().find(|(_, limit)| *limit == crate::Limit::Exactly(0)) {
        return Err(invalid(format!("a limit of 0 {name} lets nothing run"))
            .with_remedy("give it at least 1, or leave it out for the default"));
    }
    let sizes = [("memory", limits.memory), ("/tmp", limits.tmp_size), ("output", limits.output)];
    for (name, limit) in sizes {
        if let crate::Limit::Exactly(size) = limit
            && (size.get() == 0 || (name == "memory" && size < MIN_MEMORY))
        {
            return Err(invalid(format!("a limit of {size} for {name} lets nothing run"))
                .with_remedy(format!("give it at least {MIN_MEMORY}, or leave it out for the default")));
        }
    }
    let zero_times =
        [limits.timeout == crate::Limit::Exactly(Duration::ZERO), opts.idle_timeout == Some(Duration::ZERO)];
    if zero_times.contains(&true) {
        return Err(invalid("a time-out of 0 lets nothing run").with_remedy("leave it out for the default"));
    }
    Ok(())
}

/// With less memory, no program reaches its first instruction.
const MIN_MEMORY: crate::ByteSize = crate::ByteSize::mib(1);

fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidInput, "run", message)
}

#[cfg(test)]
mod tests;
