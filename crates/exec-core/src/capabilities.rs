//! What an executor can do and what its walls hold, as data.

use std::collections::BTreeSet;

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
    /// Sockets of the host (engines, D-Bus, abstract ones) can't be reached.
    NoHostSockets,
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
}

impl Capabilities {
    /// Whether it claims this.
    pub fn claims(&self, claim: Claim) -> bool {
        self.claims.contains(&claim)
    }
}
