//! One output stream of a command: where it is read, and when reading ends.

use std::os::fd::OwnedFd;
use std::rc::Rc;

use exec_wire::Header;
use rustix::event::{PollFd, PollFlags, Timespec};

/// Which of the two output streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Channel {
    Stdout,
    Stderr,
}

impl Channel {
    pub(crate) fn header(self, run: u32, len: u32) -> Header {
        match self {
            Self::Stdout => Header::stdout(run, len),
            Self::Stderr => Header::stderr(run, len),
        }
    }
}

/// The most to read from a terminal whose processes live on.
const TTY_REST: u64 = 64 * 1024;

/// How far to read a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    /// To its end: the last writer closes it.
    End,
    /// This many more bytes: writers may live on, and their later output is dropped.
    Bytes(u64),
}

/// A stream not yet read to its end.
pub(crate) struct Stream {
    pub(crate) channel: Channel,
    pub(crate) source: Rc<OwnedFd>,
    until: Until,
}

impl Stream {
    pub(crate) fn new(channel: Channel, source: Rc<OwnedFd>) -> Self {
        Self { channel, source, until: Until::End }
    }

    /// How many of `allowed` bytes may be read now.
    pub(crate) fn room(&self, allowed: u64) -> u64 {
        match self.until {
            Until::End => allowed,
            Until::Bytes(left) => allowed.min(left),
        }
    }

    /// From now on only what is already written counts; of that, `promised` bytes are on their way.
    pub(crate) fn finish_with_what_is_there(&mut self, is_tty: bool, promised: u64) {
        if self.until == Until::End {
            // A terminal can't report what is still on its way through it; there, an empty read is the end.
            self.until =
                Until::Bytes(if is_tty { TTY_REST } else { waiting(&self.source).saturating_sub(promised) });
        }
    }

    /// Whether an empty read means that there is nothing more to wait for.
    pub(crate) fn is_bounded(&self) -> bool {
        self.until != Until::End
    }

    pub(crate) fn count(&mut self, bytes: u64) {
        if let Until::Bytes(left) = &mut self.until {
            *left = left.saturating_sub(bytes);
        }
    }

    /// Whether the last writer is gone.
    pub(crate) fn has_ended(&self) -> bool {
        let mut fds = [PollFd::new(&*self.source, PollFlags::empty())];
        let polled = rustix::event::poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
        let hung_up = fds.iter().any(|fd| fd.revents().intersects(PollFlags::HUP | PollFlags::ERR));
        polled.is_ok() && hung_up && waiting(&self.source) == 0
    }

    /// Whether reading ended by count rather than by the stream's own end.
    pub(crate) fn is_spent(&self) -> bool {
        self.until == Until::Bytes(0)
    }
}

/// Bytes written and not read yet.
pub(crate) fn waiting(source: &OwnedFd) -> u64 {
    rustix::io::ioctl_fionread(source).unwrap_or(0)
}
