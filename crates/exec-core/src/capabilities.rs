//! What an executor supports and what it guarantees, as data.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;

use crate::IsolationLevel;

/// A property that a sandbox guarantees or does not. Each test of a property names it, so that a property the executor
/// does not claim is reported as *not claimed*, never as passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Claim {
    /// Every process of a run dies with it, including those that left its session and process group.
    KillsDescendants,
    /// Every process of a run dies when the orchestrator is killed.
    DiesWithOwner,
    /// The command can't kill or trace its supervisor.
    ProtectsSupervisor,
    /// The command can't signal processes outside.
    NoSignalsOut,
    /// The command can't see processes outside.
    HidesProcesses,
    /// Host files outside the mounts are invisible.
    HidesFiles,
    /// Host files outside the mounts are read-only.
    ReadOnlySystem,
    /// `/tmp` and `/run` are private to the run.
    PrivateTmp,
    /// Host sockets (engines, D-Bus, abstract ones) are unreachable unless they lie in the workspace or a mount. A host
    /// process that listens on a socket file there, even in a read-only mount, answers the command: no kernel up to 6.18
    /// can distinguish such a socket from one of the command's own.
    NoSocketsOutsideMounts,
    /// No network except a private loopback.
    NoNetwork,
    /// TCP is denied; other protocols are allowed.
    NoTcp,
    /// No capability, and no way to gain one.
    NoPrivileges,
    /// A private user namespace: privileges gained inside do not apply outside. User ids may still be the host's.
    OwnUserNamespace,
    /// Dangerous system calls are refused.
    SyscallFilter,
    /// A memory limit applies to the run as a whole.
    MemoryLimit,
    /// A process limit applies to the run as a whole.
    PidsLimit,
    /// A CPU limit applies to the run as a whole.
    CpuLimit,
    /// A run can take at most a quarter of its user's inotify and fanotify quota. Four concurrent runs can exhaust it.
    WatchLimit,
}

/// A clause of the [`Executor`](crate::Executor) contract that an executor can't keep, named by what happens instead.
/// Most executors keep all of them. Displayed as a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Exception {
    /// CPU time and peak memory are unknown and reported as 0.
    NoUsage,
    /// A stopped orchestrator does not enforce time-outs until it continues.
    DeadlinesOutside,
    /// A mount shows what is at its source when the command starts, which may differ from what was checked.
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

/// A container engine. Displayed as its make and version.
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

/// What an executor offers, known before anything has run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Capabilities {
    /// The isolation level of its cells.
    pub level: IsolationLevel,
    /// The properties that the isolation guarantees.
    pub claims: BTreeSet<Claim>,
    /// Whether it supports terminals.
    pub tty: bool,
    /// Whether it supports sessions.
    pub sessions: bool,
    /// Whether it runs commands in images.
    pub images: bool,
    /// The engine it runs on; `None` for executors without one.
    pub engine: Option<EngineInfo>,
    /// Clauses of the contract that it does not keep.
    pub exceptions: BTreeSet<Exception>,
}

impl Capabilities {
    /// Whether it guarantees this property.
    pub fn claims(&self, claim: Claim) -> bool {
        self.claims.contains(&claim)
    }

    /// Whether it keeps this clause of the contract.
    pub fn keeps(&self, exception: Exception) -> bool {
        !self.exceptions.contains(&exception)
    }
}
