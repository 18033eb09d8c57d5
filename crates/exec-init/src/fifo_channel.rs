//! The FIFO channel, PID 1's way past a container's engine: two named pipes that the host provides.

use exec_wire::{FIFO_ANSWER, FIFO_DIRECTORY, FIFO_IN, FIFO_OUT};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

use crate::cell::HostStream;
use crate::preface;

/// Opens the FIFO channel and confirms it there, or answers on standard output that there is none. On any failure the
/// engine's stream serves as well, only slower.
pub(crate) fn take() -> Option<HostStream> {
    let fifo_channel = open_at(FIFO_DIRECTORY);
    match &fifo_channel {
        Ok(stream) if rustix::io::write(&stream.output, &[FIFO_ANSWER]) == Ok(1) => fifo_channel.ok(),
        _ => {
            preface::send(&[FIFO_ANSWER]);
            None
        }
    }
}

/// The host already holds both pipes open, so neither open has to wait for it.
fn open_at(directory: &str) -> Result<HostStream, Errno> {
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory =
        openat(CWD, directory, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    Ok(HostStream {
        input: openat(&directory, FIFO_IN, OFlags::RDONLY | flags, Mode::empty())?,
        output: openat(&directory, FIFO_OUT, OFlags::WRONLY | flags, Mode::empty())?,
    })
}

#[cfg(test)]
mod tests {
    use rustix::fs::{FileType, mknodat};

    use super::*;

    #[test]
    fn a_lane_without_a_peer_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().to_str().unwrap();
        assert_eq!(open_at(path).err(), Some(Errno::NOENT));
        for name in [FIFO_IN, FIFO_OUT] {
            mknodat(CWD, dir.path().join(name), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        }
        assert_eq!(open_at(path).err(), Some(Errno::NXIO));
        let reader = openat(CWD, dir.path().join(FIFO_OUT), OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty());
        assert!(open_at(path).is_ok());
        drop(reader);
    }
}
