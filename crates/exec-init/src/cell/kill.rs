//! Killing all there is, by whatever reaches it all.

use rustix::io::Errno;

use super::{KillScope, sweep};
use crate::cgroup::Cgroup;
use crate::sys::{self, Pid};

/// One attempt at everything in the cell but ourselves. Harmless to repeat.
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

/// Whether nothing but ourselves is left, given that we have no children. Processes that others put into our
/// namespace are not our children.
pub(crate) fn is_alone(scope: KillScope) -> bool {
    match scope {
        KillScope::Namespace => sys::kill(-1, 0) == Err(Errno::SRCH),
        KillScope::Descendants => true,
    }
}

/// What is still there.
pub(crate) fn left(scope: KillScope) -> Vec<u32> {
    match scope {
        KillScope::Namespace => sweep::everyone(own_pid()),
        KillScope::Descendants => sweep::survivors(own_pid(), &[]),
    }
}

pub(crate) fn own_pid() -> Pid {
    std::process::id() as Pid
}
