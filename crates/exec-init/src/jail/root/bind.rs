//! Host files and directories inside the cell.
//!
//! A source is opened once, without following links, and compared with the file the host checked: if it was
//! swapped in between, the mount is refused.

use std::os::fd::OwnedFd;

use exec_wire::{Access, FileId, Missing};
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat2};
use rustix::io::Errno;

use super::attach::{self, Depth, READ_ONLY, SAFE};
use super::place::Root;
use crate::identity;
use crate::jail::fail::{Fail, show};

/// The source of a bind.
pub(super) struct Source<'a> {
    pub(super) path: &'a [u8],
    pub(super) expect: Option<FileId>,
    pub(super) missing: Missing,
}

/// Mounts a source, with everything mounted below it, at a target.
pub(super) fn bind(root: &Root, source: &Source<'_>, target: &[u8], access: Access) -> Result<(), Fail> {
    let Some((file, kind)) = open(source)? else { return Ok(()) };
    let flags = match access {
        Access::Read => SAFE.union(READ_ONLY),
        Access::Write => SAFE,
    };
    let tree = attach::clone_of(&file, "", Depth::All)
        .and_then(|tree| attach::restrict(&tree, flags, Depth::All).map(|()| tree))
        .map_err(|why| Fail::new("bind", show(source.path), why))?;
    let point = if kind == FileType::Directory { root.directory(target)? } else { root.file(target)? };
    attach::over(&tree, &point, "").map_err(|why| match why {
        Errno::NOTDIR => {
            Fail::new("bind", show(target), "source and target must both be directories, or neither")
        }
        why => Fail::new("bind", format_args!("{} at {}", show(source.path), show(target)), why),
    })
}

fn open(source: &Source<'_>) -> Result<Option<(OwnedFd, FileType)>, Fail> {
    let fail = |why: &dyn std::fmt::Display| Fail::new("bind", show(source.path), why);
    let flags = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let file = match openat2(CWD, source.path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), flags) {
        Ok(file) => file,
        Err(Errno::NOENT | Errno::NOTDIR) if source.missing == Missing::Skip => return Ok(None),
        Err(Errno::LOOP) => return Err(fail(&"the path leads through a symbolic link")),
        Err(why) => return Err(fail(&why)),
    };
    let stat = fstat(&file).map_err(|why| fail(&why))?;
    if source.expect.is_some_and(|expected| !identity::is(&file, &stat, expected)) {
        return Err(fail(&"it is not the file that was checked: something was put in its place"));
    }
    Ok(Some((file, FileType::from_raw_mode(stat.st_mode))))
}
