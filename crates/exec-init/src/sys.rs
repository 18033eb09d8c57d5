//! System calls without a safe form in `rustix`, each behind the smallest safe signature that fits.
//!
//! This module knows no protocol and no policy.
#![expect(unsafe_code, reason = "fork, exec, wait4 and signal state have no safe wrappers")]

use std::ffi::CStr;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use rustix::io::Errno;

/// A process id as the kernel assigns it; always positive here.
pub(crate) type Pid = libc::pid_t;

fn check(result: libc::c_int) -> Result<libc::c_int, Errno> {
    if result == -1 { Err(last_error()) } else { Ok(result) }
}

fn last_error() -> Errno {
    std::io::Error::last_os_error().raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error)
}

/// Which side of a fork this is.
pub(crate) enum Fork {
    Parent(Pid),
    Child,
}

/// Ordinary code may run in the child: this program has one thread.
pub(crate) fn fork() -> Result<Fork, Errno> {
    // SAFETY: the process has a single thread, so the child's copy of every lock and of the heap is consistent.
    match check(unsafe { libc::fork() })? {
        0 => Ok(Fork::Child),
        pid => Ok(Fork::Parent(pid)),
    }
}

/// Room for the few calls between fork and exec.
const CHILD_STACK: usize = 64 * 1024;

/// Makes a child that works in this process's own memory, on its own stack, and returns once the child has
/// become another program or has ended. Nothing has to be copied, which is most of the cost of a fork;
/// meanwhile this process is suspended. Descriptors and signal state are the child's own.
pub(crate) fn fork_sharing(child: &dyn Fn()) -> Result<Pid, Errno> {
    extern "C" fn enter(child: *mut libc::c_void) -> libc::c_int {
        // SAFETY: the pointer is to the reference below, which is valid while the parent is suspended.
        let child = unsafe { *child.cast::<&dyn Fn()>() };
        child();
        127
    }
    let mut stack = vec![0_u128; CHILD_STACK / size_of::<u128>()];
    let mut child = child;
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the stack grows down from its aligned end and outlives the child's use of it, because the
    // parent resumes only after that; with a single thread nothing else touches the shared memory.
    check(unsafe { libc::clone(enter, stack.as_mut_ptr_range().end.cast(), flags, (&raw mut child).cast()) })
}

/// Ends the process without running destructors or flushing anything inherited from the parent.
pub(crate) fn exit_now(code: i32) -> ! {
    // SAFETY: `_exit` takes any value and does not return.
    unsafe { libc::_exit(code) }
}

/// Argument and environment vectors as `execve` wants them; made before the fork.
pub(crate) struct Vector<'a> {
    pointers: Vec<*const libc::c_char>,
    _strings: std::marker::PhantomData<&'a CStr>,
}

impl<'a> Vector<'a> {
    pub(crate) fn new(strings: impl IntoIterator<Item = &'a CStr>) -> Self {
        let mut pointers: Vec<_> = strings.into_iter().map(CStr::as_ptr).collect();
        pointers.push(std::ptr::null());
        Self { pointers, _strings: std::marker::PhantomData }
    }
}

/// Returns only if the program could not be run.
pub(crate) fn exec(program: &CStr, argv: &Vector<'_>, env: &Vector<'_>) -> Errno {
    // SAFETY: both vectors end with a null pointer and borrow the strings they point to.
    unsafe { libc::execve(program.as_ptr(), argv.pointers.as_ptr(), env.pointers.as_ptr()) };
    last_error()
}

/// CPU time and memory, as the kernel adds them up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Rusage {
    pub(crate) user_us: u64,
    pub(crate) system_us: u64,
    pub(crate) peak_memory: u64,
}

impl Rusage {
    /// Resources used after `earlier`. Peaks can't be subtracted and stay.
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            user_us: self.user_us.saturating_sub(earlier.user_us),
            system_us: self.system_us.saturating_sub(earlier.system_us),
            peak_memory: self.peak_memory,
        }
    }
}

/// Resources used by all children waited for, with their own waited-for descendants.
pub(crate) fn children_usage() -> Rusage {
    // SAFETY: `rusage` is plain numbers, for which zero is a value.
    let mut raw: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live, writable `rusage`.
    unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut raw) };
    let micros = |time: libc::timeval| (time.tv_sec as u64).wrapping_mul(1_000_000) + time.tv_usec as u64;
    Rusage {
        user_us: micros(raw.ru_utime),
        system_us: micros(raw.ru_stime),
        peak_memory: (raw.ru_maxrss as u64).saturating_mul(1024),
    }
}

/// A child's change of state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Exited(i32),
    Signalled(i32),
    Stopped,
}

/// One child that changed state, `None` while none has. `Errno::CHILD` when there are no children at all.
pub(crate) fn wait_any() -> Result<Option<(Pid, Change)>, Errno> {
    loop {
        let mut status = 0;
        // SAFETY: the pointer is to a live integer.
        let pid = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG | libc::WUNTRACED) };
        match check(pid) {
            Ok(0) => return Ok(None),
            Ok(pid) if libc::WIFEXITED(status) => {
                return Ok(Some((pid, Change::Exited(libc::WEXITSTATUS(status)))));
            }
            Ok(pid) if libc::WIFSIGNALED(status) => {
                return Ok(Some((pid, Change::Signalled(libc::WTERMSIG(status)))));
            }
            Ok(pid) if libc::WIFSTOPPED(status) => return Ok(Some((pid, Change::Stopped))),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
}

/// `kill(2)`: a process, a group (negative), or everything but ourselves (-1).
pub(crate) fn kill(target: Pid, signal: i32) -> Result<(), Errno> {
    // SAFETY: takes numbers only.
    check(unsafe { libc::kill(target, signal) }).map(drop)
}

/// Signals a process by a descriptor that can never refer to another one.
pub(crate) fn pidfd_send_signal(pidfd: RawFd, signal: i32) -> Result<(), Errno> {
    // SAFETY: numbers and a null pointer, which the call allows.
    let result = unsafe {
        libc::syscall(libc::SYS_pidfd_send_signal, pidfd, signal, std::ptr::null::<libc::siginfo_t>(), 0)
    };
    if result == -1 { Err(last_error()) } else { Ok(()) }
}

/// Blocks every signal that can be blocked, except those a fault in this program raises.
pub(crate) fn block_signals() {
    const FAULTS: [i32; 5] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP];
    // SAFETY: the set is initialised by `sigfillset` before use.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut set);
        for fault in FAULTS {
            libc::sigdelset(&raw mut set, fault);
        }
        libc::sigprocmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut());
    }
}

/// A descriptor that is readable while a child's change of state waits to be collected.
pub(crate) fn child_events() -> Result<OwnedFd, Errno> {
    // SAFETY: the set is initialised by `sigemptyset`; the new descriptor has no other owner.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        let fd = check(libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK))?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// Bytes of the kernel's signal set.
const SET_LEN: usize = 8;

/// Resets every disposition to its default, as programs expect at start.
///
/// Asks the kernel directly: C libraries reserve some signals and would leave those as inherited.
pub(crate) fn default_signals() {
    // The kernel's `struct sigaction` fits on every architecture; all zeros is the default action.
    let default = [0_u64; 4];
    // The two that can't be changed fail, as expected.
    for signal in 1..=64 {
        // SAFETY: the new action is readable and runs no code of ours; the old one is not asked for.
        unsafe {
            libc::syscall(
                libc::SYS_rt_sigaction,
                signal,
                default.as_ptr(),
                std::ptr::null_mut::<u64>(),
                SET_LEN,
            )
        };
    }
}

/// Unblocks every signal: the other half of what programs expect at start.
pub(crate) fn unblock_signals() {
    let nothing = 0_u64;
    // SAFETY: the new set is readable and of the length said; the old one is not asked for.
    unsafe {
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            libc::SIG_SETMASK,
            &raw const nothing,
            std::ptr::null_mut::<u64>(),
            SET_LEN,
        )
    };
}

/// The action for a range of descriptors.
#[derive(Clone, Copy)]
pub(crate) enum Range {
    Close,
    CloseOnExec,
}

/// Applies the action to every descriptor from `first` to `last`, open or not. On older kernels this goes one
/// by one.
pub(crate) fn descriptors(first: u32, last: u32, what: Range) {
    if first > last {
        return;
    }
    let flags = match what {
        Range::Close => 0,
        Range::CloseOnExec => libc::CLOSE_RANGE_CLOEXEC,
    };
    // SAFETY: only called where no owner of a descriptor in the range uses it again.
    if unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) } == 0 {
        return;
    }
    for fd in first..=last.min(65_535) {
        // SAFETY: as above.
        unsafe {
            match what {
                Range::Close => libc::close(fd as RawFd),
                Range::CloseOnExec => libc::fcntl(fd as RawFd, libc::F_SETFD, libc::FD_CLOEXEC),
            };
        }
    }
}

/// Puts a copy of `fd` at `number`, open across exec.
pub(crate) fn place(fd: RawFd, number: RawFd) -> Result<(), Errno> {
    // SAFETY: takes numbers only; callers place on the three standard numbers, which nothing here owns.
    check(unsafe { libc::dup2(fd, number) }).map(drop)
}

/// Whether a descriptor is open.
pub(crate) fn is_open(number: RawFd) -> bool {
    // SAFETY: takes numbers only.
    unsafe { libc::fcntl(number, libc::F_GETFD) != -1 }
}

/// A close-on-exec copy of a descriptor, above the standard ones.
pub(crate) fn duplicate(number: RawFd) -> Result<OwnedFd, Errno> {
    // SAFETY: the new descriptor has no other owner.
    unsafe {
        let fd = check(libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 10))?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// Sleeps; only for the short waits of a last kill.
pub(crate) fn pause(time: Duration) {
    std::thread::sleep(time);
}
