//! What every process of a cell loses before a command runs: capabilities, the way back to them, system calls
//! no command needs and, on request, all but some paths.
//!
//! The same in containers and local cells. The result is read back from the kernel, not assumed.

mod bpf;
mod capabilities;
mod landlock;
mod seccomp;
mod syscalls;

use std::os::fd::{AsFd, OwnedFd};

use exec_wire::{LandlockPlan, Note, Subject};
use rustix::io::Errno;
use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};
use rustix::thread::{no_new_privs, set_no_new_privs};

pub(crate) use capabilities::drop_bounding_set;

/// The restrictions in force, and those each child still has to apply.
#[derive(Debug, Default)]
pub(crate) struct Fence {
    /// No program can gain privileges.
    pub(crate) no_new_privs: bool,
    /// The system call filter is installed.
    pub(crate) seccomp: bool,
    /// The version of Landlock that restricts the commands; 0 for none.
    pub(crate) landlock_abi: u32,
    /// The remaining bounding set of capabilities.
    pub(crate) capabilities: u64,
    /// Restrictions that could not be applied.
    pub(crate) notes: Vec<Note>,
    ruleset: Option<OwnedFd>,
}

impl Fence {
    /// Called in the forked child before it runs its program: applies the restrictions that PID 1 itself must
    /// not have.
    pub(crate) fn confine_child(&self) -> Result<(), Errno> {
        match &self.ruleset {
            Some(ruleset) => landlock::restrict_self(ruleset.as_fd()),
            None => Ok(()),
        }
    }
}

/// Restricts this process and all its future descendants. Called once, by PID 1, when it needs no privilege
/// any more.
pub(crate) fn lock_down(plan: Option<&LandlockPlan>) -> Fence {
    let mut notes = Vec::new();
    let mut note = |about: Subject, result: Result<(), Errno>| {
        if let Err(why) = result {
            notes.push(Note::new(about, why));
        }
    };
    note(Subject::NoNewPrivileges, set_no_new_privs(true));
    drop_bounding_set();
    note(Subject::Capabilities, capabilities::drop_all());
    // A command of the same user can neither trace nor read this process. Exec makes the command itself
    // readable again.
    note(Subject::NotDumpable, set_dumpable_behavior(DumpableBehavior::NotDumpable));
    let no_core = Rlimit { current: Some(0), maximum: Some(0) };
    note(Subject::CoreDumps, setrlimit(Resource::Core, no_core));
    note(Subject::SyscallFilter, seccomp::install());
    let prepared = plan.map(landlock::prepare);
    let (landlock_abi, ruleset) = match prepared {
        None => (0, None),
        Some(Ok(landlock::Prepared { abi, ruleset })) => (abi, Some(ruleset)),
        Some(Err(why)) => {
            notes.push(Note::new(Subject::Landlock, why));
            (0, None)
        }
    };
    Fence {
        no_new_privs: no_new_privs().unwrap_or(false),
        seccomp: seccomp::is_on() && !notes.iter().any(|note| note.about == Subject::SyscallFilter),
        landlock_abi,
        capabilities: capabilities::bounding_set(),
        notes,
        ruleset,
    }
}

#[cfg(test)]
mod tests;
