//! Finds and makes mount points, always inside the new root.
//!
//! Parts of the new root belong to commands that may be running in another cell and renaming files meanwhile:
//! the kernel resolves every path with the new root as its limit, and everything is created by descriptor.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use exec_wire::Identity;
use rustix::fs::{Mode, OFlags, ResolveFlags, mkdirat, openat, openat2};
use rustix::io::Errno;
use rustix::process::{Gid, Uid};

use crate::jail::fail::{Fail, show};

/// How often to retry a lookup while others rename parts of the path.
const ATTEMPTS: u32 = 64;

/// The new root, and the owner of what is created in it.
pub(super) struct Root {
    top: OwnedFd,
    owner: (Uid, Gid),
}

impl AsFd for Root {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.top.as_fd()
    }
}

impl Root {
    pub(super) fn new(top: OwnedFd, identity: &Identity) -> Self {
        Self { top, owner: (Uid::from_raw(identity.uid), Gid::from_raw(identity.gid)) }
    }

    /// Opens the file at a path, following links as if the new root were the only one.
    pub(super) fn find(&self, target: &[u8]) -> Result<OwnedFd, Errno> {
        let flags = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        for _ in 0..ATTEMPTS {
            match openat2(&self.top, target, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), flags) {
                // Part of the path was renamed meanwhile and the kernel could not be sure.
                Err(Errno::AGAIN) => {}
                other => return other,
            }
        }
        Err(Errno::AGAIN)
    }

    /// Opens a directory, creating it and its parents if missing.
    pub(super) fn directory(&self, target: &[u8]) -> Result<OwnedFd, Fail> {
        match self.find(target) {
            Ok(found) => Ok(found),
            Err(Errno::NOENT) => {
                let (parent, name) = self.parent(target)?;
                mkdirat(&parent, name, Mode::from_raw_mode(0o755)).map_err(|why| refused(target, why))?;
                let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let made = openat(&parent, name, flags, Mode::empty()).map_err(|why| refused(target, why))?;
                self.give_away(&made, target)?;
                Ok(made)
            }
            Err(why) => Err(refused(target, why)),
        }
    }

    /// Opens a file to mount over, creating it empty, with its parents, if missing.
    pub(super) fn file(&self, target: &[u8]) -> Result<OwnedFd, Fail> {
        match self.find(target) {
            Ok(found) => Ok(found),
            Err(Errno::NOENT) => self.new_file(target),
            Err(why) => Err(refused(target, why)),
        }
    }

    /// Creates a file that must not exist yet, open for writing.
    pub(super) fn new_file(&self, target: &[u8]) -> Result<OwnedFd, Fail> {
        let (parent, name) = self.parent(target)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made =
            openat(&parent, name, flags, Mode::from_raw_mode(0o644)).map_err(|why| refused(target, why))?;
        self.give_away(&made, target)?;
        Ok(made)
    }

    /// The directory of a path, created if missing, and the path's last name.
    pub(super) fn parent<'a>(&self, target: &'a [u8]) -> Result<(OwnedFd, &'a [u8]), Fail> {
        let wrong = |why: &str| Fail::new("mount", show(target), why);
        let end =
            target.iter().rposition(|byte| *byte != b'/').ok_or_else(|| wrong("the root is not a target"))?;
        let path = target.get(..=end).unwrap_or_default();
        let slash =
            path.iter().rposition(|byte| *byte == b'/').ok_or_else(|| wrong("the path is not absolute"))?;
        let (above, name) = path.split_at(slash + 1);
        if name == b"." || name == b".." || path.first() != Some(&b'/') {
            return Err(wrong("the path is not absolute and plain"));
        }
        Ok((self.directory(above)?, name))
    }

    /// Files created in a writable bind stay on the host, so they must not be left owned by root.
    fn give_away(&self, made: &OwnedFd, target: &[u8]) -> Result<(), Fail> {
        let (uid, gid) = self.owner;
        if uid == rustix::process::geteuid() && gid == rustix::process::getegid() {
            return Ok(());
        }
        rustix::fs::chownat(made, "", Some(uid), Some(gid), rustix::fs::AtFlags::EMPTY_PATH)
            .map_err(|why| refused(target, why))
    }
}

fn refused(target: &[u8], why: Errno) -> Fail {
    match why {
        Errno::ROFS => Fail::new(
            "mount",
            show(target),
            "the place to mount on is missing, and what it lies in is mounted read-only",
        ),
        why => Fail::new("make a place to mount on", show(target), why),
    }
}
