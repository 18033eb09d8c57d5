//! What the processes on the host's side share, the keeper of a local cell and the reaper: they detach from
//! their parent and watch the host on standard input.

use std::os::fd::{AsRawFd, RawFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::process::{Pid, getppid};

use crate::stat;
use crate::sys;

/// The process that started this one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Host(Option<Pid>);

impl Host {
    /// Call while the host is alive.
    pub(crate) fn of_this_process() -> Self {
        Self(getppid())
    }

    /// Whether the host is gone or about to end. Its end of a stream closes before its children get a new
    /// parent.
    pub(crate) fn is_gone(self) -> bool {
        let ends = |pid: Pid| stat::read(pid.as_raw_pid()).is_some_and(|stat| stat.is_ending());
        getppid() != self.0 || self.0.is_some_and(ends)
    }
}

/// Detaches this process: only fatal signals reach it, it has no terminal, only the standard descriptors are
/// open, and its working directory is `/`.
///
/// The host's working directory may hold links that a command left. A program started there that creates a
/// file by a relative name, as Podman's monitor does when memory runs out, would follow them.
pub(crate) fn cut_loose() {
    if rustix::process::chdir("/").is_err() {
        sys::exit_now(1);
    }
    sys::default_signals();
    sys::block_signals();
    // Refused to a process group leader, which is just as good.
    let _ = rustix::process::setsid();
    sys::descriptors(3, u32::MAX, sys::Range::Close);
}

/// A standard descriptor for writing.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Output {
    Stdout,
    Stderr,
}

impl Output {
    /// Redirects the descriptor to `/dev/null`: its reader no longer waits for output or for the end.
    pub(crate) fn mute(self) {
        let number: u16 = match self {
            Self::Stdout => 1,
            Self::Stderr => 2,
        };
        match open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()) {
            Ok(null) => {
                let _ = sys::place(null.as_raw_fd(), RawFd::from(number));
            }
            Err(_) => sys::descriptors(number.into(), number.into(), sys::Range::Close),
        }
    }
}

/// Reads from the host, waiting if necessary; 0 is the end of the stream.
pub(crate) fn read_stdin(buffer: &mut [u8]) -> Result<usize, Errno> {
    let stdin = rustix::stdio::stdin();
    loop {
        match rustix::io::read(stdin, &mut *buffer) {
            Err(Errno::INTR) => {}
            // The host may have made its end of a socket pair non-blocking for both.
            Err(Errno::AGAIN) => {
                // Whether the wake-up was spurious or failed, the next read reports the state.
                let _ = poll(&mut [PollFd::new(&stdin, PollFlags::IN)], None);
            }
            done => return done,
        }
    }
}
