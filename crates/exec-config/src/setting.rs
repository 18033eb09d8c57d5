//! One setting: a key together with a value of its kind.

use std::ffi::OsString;
use std::fmt::{self, Display};
use std::path::PathBuf;
use std::time::Duration;

use exec_core::{Access, ByteSize, Cpus, Gpus, IsolationLevel, Limit, MountSpec, Network, Preset, User};

use crate::values::{Sandbox, UNLIMITED, Words, WorkspaceAccess};

/// A limit explicitly left to the preset.
const OF_THE_PRESET: &str = "the preset's";

/// What can be set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Setting {
    /// Which sandbox.
    Executor(Sandbox),
    /// With `auto`: refuse instead of falling back from the first choice.
    NoFallback(bool),
    /// The least isolation to accept.
    MinIsolation(IsolationLevel),
    /// The image, for containers.
    Image(String),
    /// Graphics processors.
    Gpus(Gpus),
    /// The network.
    Network(Network),
    /// The user to run as.
    User(User),
    /// Whether the workspace is writable.
    WorkspaceMode(WorkspaceAccess),
    /// Writable paths in a read-only workspace.
    WritePaths(Vec<PathBuf>),
    /// Paths of the host to mount.
    Mounts(Vec<MountSpec>),
    /// The environment.
    Env(Vec<Variable>),
    /// The preset for limits that are not set.
    Preset(Preset),
    /// Memory of all processes.
    Memory(Limit<ByteSize>),
    /// CPUs.
    Cpus(Limit<Cpus>),
    /// Processes.
    Pids(Limit<u32>),
    /// Open files per process.
    OpenFiles(Limit<u32>),
    /// Size of `/tmp`.
    TmpSize(Limit<ByteSize>),
    /// Longest run.
    Timeout(Limit<Duration>),
    /// Longest silence.
    IdleTimeout(Duration),
    /// Time between the polite signal and the kill.
    Grace(Duration),
    /// Most output.
    MaxOutput(Limit<ByteSize>),
    /// Report limits that can't be enforced instead of refusing.
    BestEffortLimits(bool),
}

/// A variable for the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: OsString,
    /// Its value; without one, the caller's own value is passed on.
    pub value: Option<OsString>,
}

impl Setting {
    /// Its key.
    pub fn key(&self) -> &'static str {
        match self {
            Self::Executor(_) => "executor",
            Self::NoFallback(_) => "no_fallback",
            Self::MinIsolation(_) => "min_isolation",
            Self::Image(_) => "image",
            Self::Gpus(_) => "gpus",
            Self::Network(_) => "network",
            Self::User(_) => "user",
            Self::WorkspaceMode(_) => "workspace_mode",
            Self::WritePaths(_) => "write_paths",
            Self::Mounts(_) => "mounts",
            Self::Env(_) => "env",
            Self::Preset(_) => "preset",
            Self::Memory(_) => "memory",
            Self::Cpus(_) => "cpus",
            Self::Pids(_) => "pids",
            Self::OpenFiles(_) => "open_files",
            Self::TmpSize(_) => "tmp_size",
            Self::Timeout(_) => "timeout",
            Self::IdleTimeout(_) => "idle_timeout",
            Self::Grace(_) => "grace",
            Self::MaxOutput(_) => "max_output",
            Self::BestEffortLimits(_) => "best_effort_limits",
        }
    }
}

/// Formats the value as written in a file.
impl Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Executor(sandbox) => write!(f, "{sandbox}"),
            Self::NoFallback(on) | Self::BestEffortLimits(on) => write!(f, "{on}"),
            Self::MinIsolation(level) => write!(f, "{level}"),
            Self::Image(image) => f.write_str(image),
            Self::Gpus(gpus) => write!(f, "{gpus}"),
            Self::Network(network) => write!(f, "{network}"),
            Self::User(User::Auto) => f.write_str("the owner of the workspace"),
            Self::User(User::Id { uid, gid }) => write!(f, "{uid}:{gid}"),
            Self::WorkspaceMode(mode) => f.write_str(mode.word()),
            Self::WritePaths(paths) => list(f, paths.iter().map(|path| path.display())),
            Self::Mounts(mounts) => list(f, mounts.iter().map(mount)),
            Self::Env(variables) => list(f, variables),
            Self::Preset(preset) => f.write_str(preset.word()),
            Self::Memory(size) | Self::TmpSize(size) | Self::MaxOutput(size) => limit(f, *size),
            Self::Cpus(cpus) => limit(f, *cpus),
            Self::Pids(count) | Self::OpenFiles(count) => limit(f, *count),
            Self::Timeout(Limit::Exactly(time)) | Self::IdleTimeout(time) | Self::Grace(time) => {
                write!(f, "{}", humantime::format_duration(*time))
            }
            Self::Timeout(Limit::Preset) => f.write_str(OF_THE_PRESET),
            Self::Timeout(Limit::Unlimited) => f.write_str(UNLIMITED),
        }
    }
}

/// A variable that passes on the caller's value shows only its name, as written.
impl Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Some(value) => write!(f, "{}={}", self.name.display(), value.display()),
            None => write!(f, "{}", self.name.display()),
        }
    }
}

pub(crate) fn mount(mount: &MountSpec) -> String {
    let access = match mount.access {
        Access::ReadOnly => "ro",
        Access::ReadWrite => "rw",
    };
    format!("{}:{}:{access}", mount.source.display(), mount.target.display())
}

fn limit(f: &mut fmt::Formatter<'_>, limit: Limit<impl Display>) -> fmt::Result {
    match limit {
        Limit::Exactly(value) => write!(f, "{value}"),
        Limit::Preset => f.write_str(OF_THE_PRESET),
        Limit::Unlimited => f.write_str(UNLIMITED),
    }
}

fn list(f: &mut fmt::Formatter<'_>, items: impl IntoIterator<Item = impl Display>) -> fmt::Result {
    for (index, item) in items.into_iter().enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        write!(f, "{comma}{item}")?;
    }
    Ok(())
}
