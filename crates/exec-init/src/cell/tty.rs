//! Terminals for commands that ask for one.

use std::os::fd::{AsFd, OwnedFd};

use exec_wire::WindowSize;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::Pid as ProcessId;
use rustix::pty::OpenptFlags;
use rustix::termios::Winsize;

use crate::sys::{self, Pid};

/// The character that means "no more input" on a terminal in its usual mode.
pub(crate) const END_OF_INPUT: u8 = 0x04;

/// A new terminal: the end the cell reads and writes, and the end the command sees.
pub(crate) fn open(size: WindowSize) -> Result<(OwnedFd, OwnedFd), Errno> {
    let master = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    rustix::pty::grantpt(&master)?;
    rustix::pty::unlockpt(&master)?;
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    // By descriptor where the kernel supports it: in another mount namespace the terminal's name need not
    // lead to it.
    let slave = rustix::pty::ioctl_tiocgptpeer(&master, flags).or_else(|_| {
        let name = rustix::pty::ptsname(&master, Vec::new())?;
        rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())
    })?;
    resize(&master, size)?;
    Ok((master, slave))
}

/// Gives the terminal a new size; its foreground processes get SIGWINCH from the kernel.
pub(crate) fn resize(master: impl AsFd, size: WindowSize) -> Result<(), Errno> {
    let WindowSize { rows, cols } = size;
    rustix::termios::tcsetwinsize(master, Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 })
}

/// Signals the foreground group of the terminal, if it still belongs to the session led by `leader`.
pub(crate) fn signal_foreground(master: impl AsFd, leader: Pid, signal: i32) -> bool {
    let Ok(group) = rustix::termios::tcgetpgrp(master) else { return false };
    // A group whose leader is gone can't be queried, but its number can't have been reused either.
    let ours = rustix::process::getsid(Some(group))
        .is_ok_and(|session| Some(session) == ProcessId::from_raw(leader));
    let leaderless = rustix::process::test_kill_process(group) == Err(Errno::SRCH);
    (ours || leaderless) && sys::kill(-group.as_raw_nonzero().get(), signal).is_ok()
}
