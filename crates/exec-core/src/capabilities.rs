//! What an executor can do and what its walls hold, as data.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;

use crate::IsolationLevel;

/// One property of a sandbox that is either held or not. Tests that show a property name it, so that what an
/// executor does not claim is reported as *not claimed*, never as passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Claim {
    /// Every process of a run dies with it, also those that left its session and process group.
    KillsDescendants,
    /// The same when the orchestrator itself is killed.
    DiesWithOwner,
    /// The command can't end or trace its supervisor.
    ProtectsSupervisor,
    /// Processes outside can't be signalled.
    NoSignalsOut,
    /// Processes outside can't be seen.
    HidesProcesses,
    /// Host files outside the mounts are not there.
    HidesFiles,
    /// Host files outside the mounts can't be written.
    ReadOnlySystem,
    /// `/tmp` and `/run` are the run's own.
    PrivateTmp,
    /// Sockets of the host (engines, D-Bus, abstract ones) can't be reached, unless they lie in what the cell shows. A
    /// host process that listens on a socket file in the workspace or in a mount, even a read-only one, answers the
    /// command: no kernel up to 6.18 can tell such a socket from one of the command's own.
    NoSocketsOutsideMounts,
    /// No network but a loopback of its own.
    NoNetwork,
    /// TCP is denied; other protocols are not.
    NoTcp,
    /// No capability, and no way to gain one.
    NoPrivileges,
    /// A user namespace of its own: a privilege gained inside is none outside. User ids may still be the host's.
    OwnUserNamespace,
    /// Dangerous system calls are refused.
    SyscallFilter,
    /// A memory limit holds for the run as a whole.
    MemoryLimit,
    /// A process limit holds for the run as a whole.
    PidsLimit,
    /// A CPU limit holds for the run as a whole.
    CpuLimit,
    /// A run can take at most a quarter of its user's inotify and fanotify quota. Four runs at once can take all of it.
    WatchLimit,
}

/// A sentence of the [`Executor`](crate::Executor) contract that an executor can't keep, as what happens instead. Most
/// keep every one. Shown as a sentence of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Exception {
    /// CPU time and peak memory are not known, and told as 0.
    NoUsage,
    /// A stopped orchestrator does not enforce time-outs until it goes on.
    DeadlinesOutside,
    /// A mount shows what stands at its source when the command starts, which need not be what was checked.
    MountsByName,
}

impl fmt::Display for Exception {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoUsage => "CPU time and peak memory are not measured",
            Self::DeadlinesOutside => "time-outs are enforced by the orchestrator only",
            Self::MountsByName => "a mount's source can be replaced between check and use",
        })
    }
}

/// A container engine, as people know it. Shown as its make and version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EngineInfo {
    /// Its make: `Docker`, `Podman`.
    pub make: String,
    /// Its version.
    pub version: String,
    /// Its address.
    pub at: String,
}

impl fmt::Display for EngineInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.make, self.version)
    }
}

/// What an executor offers before anything has run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Capabilities {
    /// The wall its cells have.
    pub level: IsolationLevel,
    /// What that wall holds.
    pub claims: BTreeSet<Claim>,
    /// Terminals.
    pub tty: bool,
    /// Sessions.
    pub sessions: bool,
    /// Images.
    pub images: bool,
    /// The engine it runs on; none for executors without one.
    pub engine: Option<EngineInfo>,
    /// Where it does not keep the contract.
    pub exceptions: BTreeSet<Exception>,
}

impl Capabilities {
    /// Whether it claims this.
    pub fn claims(&self, claim: Claim) -> bool {
        self.claims.contains(&claim)
    }

    /// Whether it keeps this sentence of the contract.
    pub fn keeps(&self, exception: Exception) -> bool {
        !self.exceptions.contains(&exception)
    }
}
