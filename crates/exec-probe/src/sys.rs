//! Safe wrappers for the system calls that several commands need.

use std::ffi::c_int;
use std::time::Duration;

use crate::errno::Errno;

pub(crate) type Result<T> = std::result::Result<T, Errno>;

pub(crate) const STDIN: c_int = 0;
pub(crate) const STDOUT: c_int = 1;
pub(crate) const STDERR: c_int = 2;

/// The two answers of `fork`.
pub(crate) enum Fork {
    Parent { child: libc::pid_t },
    Child,
}

/// Turns the -1 of a C call into its error.
pub(crate) fn check(returned: c_int) -> Result<c_int> {
    if returned < 0 { Err(Errno::last()) } else { Ok(returned) }
}

/// A system call by number; pointers are passed as numbers.
pub(crate) fn call(number: libc::c_long, args: [usize; 5]) -> Result<libc::c_long> {
    // SAFETY: callers pass pointers only to values that outlive the call, or none.
    let returned = unsafe { libc::syscall(number, args[0], args[1], args[2], args[3], args[4]) };
    if returned < 0 { Err(Errno::last()) } else { Ok(returned) }
}

pub(crate) fn fork() -> Result<Fork> {
    // SAFETY: this program forks only while it has a single thread.
    match check(unsafe { libc::fork() })? {
        0 => Ok(Fork::Child),
        child => Ok(Fork::Parent { child }),
    }
}

/// Ends the process without running any exit handler, as a forked child must.
pub(crate) fn exit(code: c_int) -> ! {
    // SAFETY: it does not return.
    unsafe { libc::_exit(code) }
}

pub(crate) fn setsid() -> Result<()> {
    // SAFETY: no arguments.
    check(unsafe { libc::setsid() }).map(drop)
}

pub(crate) fn close(fd: c_int) {
    // SAFETY: nothing in this program owns the descriptors closed this way.
    unsafe { libc::close(fd) };
}

pub(crate) fn pipe() -> Result<(c_int, c_int)> {
    let mut ends = [0; 2];
    // SAFETY: the array has room for both ends.
    check(unsafe { libc::pipe(ends.as_mut_ptr()) })?;
    Ok((ends[0], ends[1]))
}

/// Reads up to the buffer's length; 0 at the end.
pub(crate) fn read(fd: c_int, buffer: &mut [u8]) -> Result<usize> {
    // SAFETY: pointer and length are the buffer's own.
    let count = unsafe { libc::read(fd, buffer.as_mut_ptr().cast(), buffer.len()) };
    usize::try_from(count).map_err(|_| Errno::last())
}

pub(crate) fn write_all(fd: c_int, mut bytes: &[u8]) -> Result<()> {
    while !bytes.is_empty() {
        // SAFETY: pointer and length are the slice's own.
        let count = unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) };
        let count = usize::try_from(count).map_err(|_| Errno::last())?;
        bytes = bytes.get(count..).unwrap_or_default();
    }
    Ok(())
}

/// Prints a line on standard output in one write.
pub(crate) fn say(line: &str) -> Result<()> {
    write_all(STDOUT, format!("{line}\n").as_bytes())
}

pub(crate) fn pause_for_ever() -> ! {
    loop {
        // SAFETY: no arguments.
        unsafe { libc::pause() };
    }
}

pub(crate) fn sleep(time: Duration) {
    std::thread::sleep(time);
}

/// Waits for a child and returns its raw status.
pub(crate) fn wait(child: libc::pid_t) -> Result<c_int> {
    let mut status = 0;
    // SAFETY: `status` has room for the result.
    check(unsafe { libc::waitpid(child, &raw mut status, 0) })?;
    Ok(status)
}

/// Whether a child has ended; reaps it.
pub(crate) fn has_dead_child() -> Result<bool> {
    // SAFETY: no status is requested.
    check(unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) }).map(|id| id > 0)
}

/// The number of unread bytes in a pipe.
pub(crate) fn unread(fd: c_int) -> Result<c_int> {
    let mut count = 0;
    // SAFETY: FIONREAD writes one int.
    check(unsafe { libc::ioctl(fd, libc::FIONREAD, &raw mut count) })?;
    Ok(count)
}

pub(crate) fn kill(pid: libc::pid_t, signal: c_int) -> Result<()> {
    // SAFETY: plain numbers.
    check(unsafe { libc::kill(pid, signal) }).map(drop)
}

pub(crate) fn parent() -> libc::pid_t {
    // SAFETY: no arguments.
    unsafe { libc::getppid() }
}
