//! Hides files: mounts an empty directory over a directory, the null device over anything else.

use std::os::fd::OwnedFd;

use rustix::fs::{CWD, FileType, fstat};
use rustix::io::Errno;

use super::attach::{self, Depth, NO_PROGRAMS, NewFs, READ_ONLY, SAFE};

/// The covers mounted so far, one of each kind: further ones are clones of it, restrictions included.
#[derive(Default)]
pub(super) struct Covers {
    directory: Option<OwnedFd>,
    empty: Option<OwnedFd>,
    unreadable: Option<OwnedFd>,
}

/// How a covered file appears.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Null {
    /// It reads as empty.
    Empty,
    /// It can't be opened.
    Unreadable,
}

impl Covers {
    /// Covers the file or directory at `point`.
    pub(super) fn put(&mut self, point: &OwnedFd, null: Null) -> Result<(), Errno> {
        let directory = FileType::from_raw_mode(fstat(point)?.st_mode) == FileType::Directory;
        let slot = match (directory, null) {
            (true, _) => &mut self.directory,
            (false, Null::Empty) => &mut self.empty,
            (false, Null::Unreadable) => &mut self.unreadable,
        };
        if let Some(first) = slot {
            return attach::over(attach::clone_of(first, "", Depth::One)?, point, "");
        }
        let first = if directory { empty_directory()? } else { null_device(null)? };
        attach::over(&first, point, "")?;
        *slot = Some(first);
        Ok(())
    }
}

fn empty_directory() -> Result<OwnedFd, Errno> {
    NewFs::tmpfs(4096, 0o555)?.mount(SAFE.union(READ_ONLY))
}

/// The host's null device, which is unreadable where devices are not allowed.
fn null_device(null: Null) -> Result<OwnedFd, Errno> {
    let device = attach::clone_of(CWD, "/dev/null", Depth::One)?;
    let flags = match null {
        Null::Empty => NO_PROGRAMS.union(READ_ONLY),
        Null::Unreadable => NO_PROGRAMS.union(READ_ONLY).union(SAFE),
    };
    attach::restrict(&device, flags, Depth::One)?;
    Ok(device)
}
