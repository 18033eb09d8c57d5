//! The home and temporary directory of commands that have no mount namespace.
//!
//! The keeper makes it and removes it, because the keeper outlives both the cell and, if need be, the host.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, fchown};
use std::path::{Path, PathBuf};

use exec_wire::{Identity, JailSpec, Walls};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::process::geteuid;

use super::fail::Fail;

/// A directory that is removed when this value is dropped.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    /// Makes the directory if the specification asks for one. Fails if it exists already.
    pub(super) fn make(spec: &JailSpec) -> Result<Option<Self>, Fail> {
        let Walls::Subreaper { scratch } = &spec.walls else { return Ok(None) };
        if scratch.is_empty() {
            return Ok(None);
        }
        let path = Path::new(OsStr::from_bytes(scratch));
        let fail = |why: io::Error| Fail::new("make the scratch directory", path.display(), why);
        fs::DirBuilder::new().mode(0o700).create(path).map_err(fail)?;
        let made = Self(path.to_owned());
        give_to(path, &spec.identity).map_err(fail)?;
        Ok(Some(made))
    }
}

/// Changes the owner by descriptor, and only if it is still the directory just made: in a directory that
/// others can write, a link may have taken its place.
fn give_to(path: &Path, identity: &Identity) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let made = fs::File::from(openat(CWD, path, flags, Mode::empty())?);
    let metadata = made.metadata()?;
    if metadata.uid() != geteuid().as_raw() || metadata.mode() & 0o777 != 0o700 {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "another directory has taken its place"));
    }
    if (metadata.uid(), metadata.gid()) != (identity.uid, identity.gid) {
        fchown(&made, Some(identity.uid), Some(identity.gid))?;
    }
    Ok(())
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Follows no links, and every process that could have put one there is dead.
        let _ = fs::remove_dir_all(&self.0);
    }
}
