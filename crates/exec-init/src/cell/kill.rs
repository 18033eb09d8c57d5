//! Kills everything in the cell, by the widest means available.

use rustix::io::Errno;

use super::{KillScope, sweep};
use crate::cgroup::Cgroup;
use crate::sys::{self, Pid};

/// One attempt to kill everything in the cell but this process. Safe to repeat.
pub(crate) fn everything(scope: KillScope, cgroup: Option<&Cgroup>) {
    match scope {
        KillScope::Namespace => {
            let _ = sys::kill(-1, libc::SIGKILL);
        }
        KillScope::Descendants => {
            if let Some(cgroup) = cgroup {
                cgroup.kill_all();
            }
            sweep::pass(own_pid(), &[]);
        }
    }
}

/// Whether only this process is left, given that it has no children. Processes that entered our namespace
/// from outside are not our children.
pub(crate) fn is_alone(scope: KillScope) -> bool {
    match scope {
        KillScope::Namespace => sys::kill(-1, 0) == Err(Errno::SRCH),
        KillScope::Descendants => true,
    }
}

/// The processes that are still alive.
pub(crate) fn left(scope: KillScope) -> Vec<u32> {
    match scope {
        KillScope::Namespace => sweep::everyone(own_pid()),
        KillScope::Descendants => sweep::survivors(own_pid(), &[]),
    }
}

pub(crate) fn own_pid() -> Pid {
    std::process::id() as Pid
}
