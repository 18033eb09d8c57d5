//! Descriptors, and lookups beneath them.

use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File, Metadata};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;
use std::time::SystemTime;

use rustix::fs::{
    Access as Permission, AtFlags, CWD, FileType, Mode, OFlags, Stat, Timespec, Timestamps, accessat, fchown,
    fstat, mkdirat, openat, readlinkat, renameat, statat, symlinkat, unlinkat, utimensat,
};
use rustix::io::Errno;
use rustix::process::{Gid, Uid, geteuid};

use super::{Access, Removed};
use crate::dir::{Entry, FileKind, Sharing, split};

/// An open directory.
#[derive(Debug)]
pub(crate) struct Handle(OwnedFd);

/// For reading a directory.
const READ: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// For lookups in a directory, which need no right to read it.
#[cfg(target_os = "linux")]
const SEARCH: OFlags = OFlags::PATH.union(READ);
#[cfg(not(target_os = "linux"))]
const SEARCH: OFlags = READ;

pub(crate) fn open_root(path: &Path) -> io::Result<Handle> {
    lookup(None, path).map(Handle)
}

pub(crate) fn open_dir(dir: &Handle, path: &Path) -> io::Result<Handle> {
    lookup(Some(dir), path).map(Handle)
}

/// Opens a directory without following a link in any part of its path: with one system call if the kernel has
/// it, else part by part.
fn lookup(dir: Option<&Handle>, path: &Path) -> io::Result<OwnedFd> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{ResolveFlags, openat2};
        let no_links = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let opened = match dir {
            Some(dir) => openat2(&dir.0, path, SEARCH, Mode::empty(), no_links | ResolveFlags::BENEATH),
            None => openat2(CWD, path, SEARCH, Mode::empty(), no_links),
        };
        match opened {
            // Old kernels lack the call, and some filters refuse unknown calls.
            Err(Errno::NOSYS | Errno::PERM) => {}
            opened => return opened.map_err(explained),
        }
    }
    part_by_part(dir, path)
}

pub(crate) fn part_by_part(dir: Option<&Handle>, path: &Path) -> io::Result<OwnedFd> {
    let mut parts = path.iter();
    let mut here = match (dir, parts.next()) {
        (Some(dir), Some(first)) => openat(&dir.0, first, SEARCH, Mode::empty()),
        (None, Some(first)) => openat(CWD, first, SEARCH, Mode::empty()),
        (_, None) => Err(Errno::NOENT),
    }
    .map_err(explained)?;
    for part in parts {
        here = openat(&here, part, SEARCH, Mode::empty()).map_err(explained)?;
    }
    Ok(here)
}

/// Acts on an entry through its directory.
fn at<T>(
    dir: &Handle,
    path: &Path,
    act: impl FnOnce(&OwnedFd, &OsStr) -> rustix::io::Result<T>,
) -> io::Result<T> {
    let (parent, name) = split(path);
    match parent {
        Some(parent) => act(&lookup(Some(dir), parent)?, name),
        None => act(&dir.0, name),
    }
    .map_err(explained)
}

/// Translates the kernel's errors for a link on the path.
fn explained(error: Errno) -> io::Error {
    match error {
        Errno::LOOP | Errno::XDEV => {
            io::Error::new(io::ErrorKind::InvalidInput, "it is a link, or is reached through one")
        }
        // A pipe without a reader, or a socket.
        Errno::NXIO => io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"),
        error => error.into(),
    }
}

#[cfg(target_os = "linux")]
pub(crate) fn metadata(dir: &Handle, path: &Path) -> io::Result<Metadata> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let found = at(dir, path, |dir, name| openat(dir, name, flags, Mode::empty()))?;
    File::from(found).metadata()
}

/// Without path-only descriptors, the name is looked up once more. The directory may have changed in between.
#[cfg(not(target_os = "linux"))]
pub(crate) fn metadata(dir: &Handle, path: &Path) -> io::Result<Metadata> {
    let here = rustix::fs::getpath(&dir.0)?;
    std::fs::symlink_metadata(Path::new(OsStr::from_bytes(here.as_bytes())).join(path))
}

pub(crate) fn own_metadata(dir: &Handle) -> io::Result<Metadata> {
    File::from(dir.0.try_clone()?).metadata()
}

pub(crate) fn is_writable(dir: &Handle) -> bool {
    let needed = Permission::WRITE_OK | Permission::EXEC_OK;
    accessat(&dir.0, ".", needed, AtFlags::EACCESS).is_ok()
}

pub(crate) fn link_target(dir: &Handle, path: &Path) -> io::Result<OsString> {
    at(dir, path, |dir, name| readlinkat(dir, name, Vec::new()))
        .map(|target| OsString::from_vec(target.into_bytes()))
}

pub(crate) fn make_link(dir: &Handle, path: &Path, target: &OsStr) -> io::Result<()> {
    at(dir, path, |dir, name| symlinkat(target, dir, name))
}

pub(crate) fn set_modified(dir: &Handle, path: &Path, time: SystemTime) -> io::Result<()> {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let modified = Timespec { tv_sec: since.as_secs() as i64, tv_nsec: since.subsec_nanos().into() };
    let times = Timestamps { last_access: modified, last_modification: modified };
    at(dir, path, |dir, name| utimensat(dir, name, &times, AtFlags::SYMLINK_NOFOLLOW))
}

pub(crate) fn entries(dir: &Handle, most: usize) -> io::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    let readable = openat(&dir.0, ".", READ, Mode::empty())?;
    for entry in rustix::fs::Dir::new(readable)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        if entries.len() == most {
            break;
        }
        let kind = match entry.file_type() {
            FileType::RegularFile => FileKind::File,
            FileType::Directory => FileKind::Directory,
            FileType::Symlink => FileKind::Link,
            // Some file systems report the kind only on a second call.
            FileType::Unknown => match metadata(dir, Path::new(name)) {
                Ok(found) => FileKind::of(&found),
                Err(_) => continue,
            },
            _ => FileKind::Special,
        };
        entries.push(Entry { name: name.to_owned(), kind });
    }
    Ok(entries)
}

pub(crate) fn open_file(dir: &Handle, path: &Path, access: Access) -> io::Result<File> {
    // Never waits for the other end of a pipe, never acquires a controlling terminal, never follows a link.
    let always = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let (flags, mode) = match access {
        Access::Read => (OFlags::RDONLY, 0),
        Access::Append { create: None } => (OFlags::WRONLY | OFlags::APPEND, 0),
        Access::Append { create: Some(mode) } => (OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE, mode),
        Access::Create { mode } => (OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL, mode),
    };
    at(dir, path, |dir, name| {
        let file = openat(dir, name, flags | always, Mode::from_raw_mode(mode as _))?;
        if let Access::Create { .. } = access {
            give_to_owner(dir, &file);
        }
        Ok(File::from(file))
    })
}

pub(crate) fn open_named(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    match openat(CWD, path, flags, Mode::empty()) {
        Ok(file) => Ok(File::from(file)),
        // Links are allowed here, so this error means too many of them, not a link on the path.
        Err(Errno::LOOP) => Err(Errno::LOOP.into()),
        Err(error) => Err(explained(error)),
    }
}

pub(crate) fn make_dir(dir: &Handle, path: &Path, mode: u32) -> io::Result<()> {
    at(dir, path, |dir, name| {
        mkdirat(dir, name, Mode::from_raw_mode(mode as _))?;
        if let Ok(made) = openat(dir, name, READ, Mode::empty()) {
            give_to_owner(dir, &made);
        }
        Ok(())
    })
}

/// A file made by root in another user's directory belongs to that user. A failure to change the owner is
/// ignored.
fn give_to_owner(dir: &OwnedFd, made: &OwnedFd) {
    let us = geteuid().as_raw();
    let (Ok(dir), Ok(found)) = (fstat(dir), fstat(made)) else { return };
    if dir.st_uid != us && found.st_uid == us {
        let _ = fchown(made, Some(Uid::from_raw(dir.st_uid)), Some(Gid::from_raw(dir.st_gid)));
    }
}

pub(crate) fn rename(dir: &Handle, from: &Path, to: &Path) -> io::Result<()> {
    let (to_parent, to_name) = split(to);
    let target = to_parent.map(|parent| lookup(Some(dir), parent)).transpose()?;
    let target = target.as_ref().unwrap_or(&dir.0);
    at(dir, from, |dir, name| renameat(dir, name, target, to_name))
}

pub(crate) fn remove(dir: &Handle, path: &Path, what: Removed) -> io::Result<()> {
    let flags = if what == Removed::Directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
    at(dir, path, |dir, name| unlinkat(dir, name, flags))
}

pub(crate) fn make_private_dirs(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Owner and mode of an open directory, which hold for everything done through it.
pub(crate) fn check_own(dir: &Handle, sharing: Sharing) -> io::Result<()> {
    let found = fstat(&dir.0)?;
    let problem = if found.st_uid != geteuid().as_raw() {
        format!("it belongs to user {}", found.st_uid)
    } else if is_too_open(&found, sharing) {
        format!("it is open to others (mode {:03o})", found.st_mode & 0o777)
    } else {
        return Ok(());
    };
    Err(io::Error::new(io::ErrorKind::PermissionDenied, problem))
}

fn is_too_open(found: &Stat, sharing: Sharing) -> bool {
    let forbidden = match sharing {
        Sharing::Readable => 0o022,
        Sharing::Closed => 0o077,
    };
    found.st_mode & forbidden != 0
}

/// Whether a path, relative to a directory or to the working directory, leads to an open directory that is
/// still private.
pub(crate) fn is_still_own(dir: &Handle, parent: Option<&Handle>, path: &Path, sharing: Sharing) -> bool {
    let there = match parent {
        Some(parent) => statat(&parent.0, path, AtFlags::SYMLINK_NOFOLLOW),
        None => statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW),
    };
    let (Ok(there), Ok(held)) = (there, fstat(&dir.0)) else { return false };
    let is_same = (there.st_dev, there.st_ino) == (held.st_dev, held.st_ino);
    is_same && held.st_uid == geteuid().as_raw() && !is_too_open(&held, sharing)
}

/// Lets the owner of an open directory list and change it, whatever its mode was.
pub(crate) fn open_to_owner(dir: &Handle) -> io::Result<()> {
    const OWNERS: u32 = 0o700;
    if fstat(&dir.0)?.st_mode & OWNERS == OWNERS {
        return Ok(());
    }
    // The descriptor may be path-only; through `/proc` its mode can be set all the same.
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        let path = format!("/proc/self/fd/{}", dir.0.as_raw_fd());
        Ok(rustix::fs::chmod(path, Mode::RWXU)?)
    }
    #[cfg(not(target_os = "linux"))]
    Ok(rustix::fs::fchmod(&dir.0, Mode::RWXU)?)
}

/// The effective user of this process.
#[expect(clippy::unnecessary_wraps, reason = "other systems have no such number")]
pub(crate) fn user_id() -> Option<u32> {
    Some(geteuid().as_raw())
}

/// Whether a directory exists and belongs to this user.
pub(crate) fn is_own_directory(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_dir() && found.uid() == geteuid().as_raw())
}
