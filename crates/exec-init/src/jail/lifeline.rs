//! Lets PID 1 notice its keeper's death: a pipe whose write end only the keeper holds.
//!
//! The parent-death signal alone is not enough. It is lost when the parent dies before it is set, and the
//! kernel clears it with every change of credentials; the pipe closes both gaps.

use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Signal, getpid, set_child_subreaper, set_parent_process_death_signal};

use super::fail::Fail;

/// The end that PID 1 waits on.
pub(super) struct Gate(OwnedFd);

/// The end that the keeper opens the gate with and holds as long as it lives.
pub(super) struct Key(OwnedFd);

/// The keeper died or gave up, so no process is left to report to.
pub(super) struct Abandoned;

pub(super) fn gate() -> Result<(Gate, Key), Fail> {
    let (read, write) =
        pipe_with(PipeFlags::CLOEXEC).map_err(|why| Fail::new("pipe", "between keeper and PID 1", why))?;
    Ok((Gate(read), Key(write)))
}

/// Makes this process the parent of every descendant whose own parent dies.
pub(super) fn adopt_orphans() -> Result<(), Fail> {
    set_child_subreaper(Some(getpid())).map_err(|why| Fail::new("prctl", "child subreaper", why))
}

impl Key {
    /// Lets PID 1 continue.
    pub(super) fn open(&self) -> Result<(), Fail> {
        rustix::io::write(&self.0, b"1").map(drop).map_err(|why| Fail::new("write", "gate of PID 1", why))
    }
}

impl Gate {
    /// Waits until the keeper has done its part.
    pub(super) fn wait(&self) -> Result<(), Abandoned> {
        let mut byte = [0];
        loop {
            match rustix::io::read(&self.0, &mut byte) {
                Ok(1) => return Ok(()),
                Err(Errno::INTR) => {}
                _ => return Err(Abandoned),
            }
        }
    }

    /// Ties this process's life to its keeper's. Call again after every change of credentials.
    pub(super) fn tie(&self) -> Result<(), Abandoned> {
        set_parent_process_death_signal(Some(Signal::KILL)).map_err(|_| Abandoned)?;
        let mut fds = [PollFd::new(&self.0, PollFlags::empty())];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        loop {
            match poll(&mut fds, Some(&now)) {
                Err(Errno::INTR) => {}
                // The signal is set: if the keeper is alive now, its death will be noticed.
                Ok(0) => return Ok(()),
                _ => return Err(Abandoned),
            }
        }
    }
}
