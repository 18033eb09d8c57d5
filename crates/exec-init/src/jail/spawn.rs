//! Creates PID 1: one system call for the process, its namespaces and its control group.
//!
//! Knows nothing of what the child does.
#![expect(unsafe_code, reason = "clone3 has no safe wrapper, and a fork never has")]

use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use rustix::io::Errno;
use rustix::process::Pid;

/// Which of the two processes this is.
pub(super) enum Side {
    /// The new one.
    Child,
    /// The old one.
    Parent(Child),
}

/// The new process.
pub(super) struct Child {
    pub(super) pid: Pid,
    /// Readable once the process is dead; unlike the pid, it can never refer to another process.
    pub(super) handle: Option<OwnedFd>,
}

/// Copies this process into new `namespaces` and, where possible, directly into the unified control group
/// `group`.
///
/// Returns whether the child was born in the group. Such a process does not migrate: a migration makes the
/// kernel wait for every CPU, ten milliseconds and more.
pub(super) fn fork_into(namespaces: u64, group: Option<BorrowedFd<'_>>) -> Result<(Side, bool), Errno> {
    if let Some(group) = group {
        // The failure may be due to the group: the call without it decides.
        if let Ok(side) = clone3(namespaces, Some(group)) {
            return Ok((side, true));
        }
    }
    match clone3(namespaces, None) {
        Err(Errno::NOSYS) if namespaces == 0 => fork().map(|side| (side, false)),
        other => other.map(|side| (side, false)),
    }
}

/// The C library's constant does not fit its own type.
const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;

fn clone3(namespaces: u64, group: Option<BorrowedFd<'_>>) -> Result<Side, Errno> {
    let mut handle: libc::c_int = -1;
    // SAFETY: all fields are integers, for which zero is "not used".
    let mut args: libc::clone_args = unsafe { std::mem::zeroed() };
    args.flags = namespaces | libc::CLONE_PIDFD as u64;
    args.pidfd = (&raw mut handle) as u64;
    args.exit_signal = libc::SIGCHLD as u64;
    if let Some(group) = group {
        args.flags |= CLONE_INTO_CGROUP;
        args.cgroup = group.as_raw_fd() as u64;
    }
    // SAFETY: without CLONE_VM and with no stack of its own this is a fork; the process has one thread, so
    // the child finds every lock free. `args` and `handle` live across the call.
    let pid = unsafe { libc::syscall(libc::SYS_clone3, &raw mut args, size_of::<libc::clone_args>()) };
    side(pid as libc::pid_t, || {
        // SAFETY: the kernel stored a new descriptor there that has no other owner.
        (handle >= 0).then(|| unsafe { OwnedFd::from_raw_fd(handle) })
    })
}

/// For kernels and filters that refuse clone3, when the child does not need it.
fn fork() -> Result<Side, Errno> {
    // SAFETY: the process has one thread, so the child finds every lock free.
    let pid = unsafe { libc::fork() };
    side(pid, || None)
}

fn side(pid: libc::pid_t, handle: impl FnOnce() -> Option<OwnedFd>) -> Result<Side, Errno> {
    match pid {
        0 => Ok(Side::Child),
        _ => match Pid::from_raw(pid.max(0)) {
            Some(pid) => Ok(Side::Parent(Child { pid, handle: handle() })),
            None => Err(last_error()),
        },
    }
}

pub(super) fn last_error() -> Errno {
    std::io::Error::last_os_error().raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error)
}
