//! Moves the host's stream away from descriptors 0 and 1, where a command could inherit it.

use std::os::fd::{AsRawFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::spawn::nonblocking;
use crate::sys::{self, Range};

/// The host's stream: the descriptors frames are read from and written to.
#[derive(Debug)]
pub(crate) struct HostStream {
    pub(crate) input: OwnedFd,
    pub(crate) output: OwnedFd,
}

/// Moves the stream to descriptors that no command inherits and leaves `/dev/null` in its place. Standard
/// error stays for diagnostics.
pub(crate) fn take() -> Result<HostStream, Errno> {
    let null = rustix::fs::open(c"/dev/null", OFlags::RDWR, Mode::empty())?;
    if !sys::is_open(2) {
        sys::place(null.as_raw_fd(), 2)?;
    }
    let input = sys::duplicate(0)?;
    let output = sys::duplicate(1)?;
    sys::place(null.as_raw_fd(), 0)?;
    sys::place(null.as_raw_fd(), 1)?;
    sys::descriptors(3, u32::MAX, Range::CloseOnExec);
    nonblocking(&input)?;
    nonblocking(&output)?;
    Ok(HostStream { input, output })
}
