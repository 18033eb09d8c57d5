//! Paths, on systems without descriptors of directories. Entries are checked before they are used; a change
//! between the check and the use goes unnoticed.

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use super::{Access, Removed};
use crate::dir::{Entry, FileKind, Sharing};

/// A directory's path.
#[derive(Debug)]
pub(crate) struct Handle(PathBuf);

pub(crate) fn open_root(path: &Path) -> io::Result<Handle> {
    if fs::symlink_metadata(path)?.is_dir() { Ok(Handle(path.to_owned())) } else { Err(not_plain()) }
}

pub(crate) fn open_dir(dir: &Handle, path: &Path) -> io::Result<Handle> {
    open_root(&without_links(dir, path)?)
}

/// The full path, if no part of it is a link.
fn without_links(dir: &Handle, path: &Path) -> io::Result<PathBuf> {
    let full = dir.0.join(path);
    let on_the_way = full.ancestors().skip(1).take_while(|above| above.starts_with(&dir.0));
    for above in on_the_way {
        if fs::symlink_metadata(above)?.is_symlink() {
            return Err(not_plain());
        }
    }
    Ok(full)
}

fn not_plain() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is a link, or is reached through one")
}

pub(crate) fn metadata(dir: &Handle, path: &Path) -> io::Result<Metadata> {
    fs::symlink_metadata(without_links(dir, path)?)
}

pub(crate) fn own_metadata(dir: &Handle) -> io::Result<Metadata> {
    fs::symlink_metadata(&dir.0)
}

pub(crate) fn is_writable(dir: &Handle) -> bool {
    fs::symlink_metadata(&dir.0).is_ok_and(|found| !found.permissions().readonly())
}

pub(crate) fn link_target(dir: &Handle, path: &Path) -> io::Result<OsString> {
    fs::read_link(without_links(dir, path)?).map(PathBuf::into_os_string)
}

pub(crate) fn make_link(_: &Handle, _: &Path, _: &std::ffi::OsStr) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn set_modified(dir: &Handle, path: &Path, time: std::time::SystemTime) -> io::Result<()> {
    File::options().write(true).open(without_links(dir, path)?)?.set_modified(time)
}

pub(crate) fn entries(dir: &Handle, most: usize) -> io::Result<Vec<Entry>> {
    let entry = |entry: io::Result<fs::DirEntry>| {
        let entry = entry?;
        Ok(Entry { kind: FileKind::of(&entry.metadata()?), name: entry.file_name() })
    };
    fs::read_dir(&dir.0)?.take(most).map(entry).collect()
}

pub(crate) fn open_file(dir: &Handle, path: &Path, access: Access) -> io::Result<File> {
    let full = without_links(dir, path)?;
    let mut options = File::options();
    match access {
        Access::Read => options.read(true),
        Access::Append { create } => options.append(true).create(create.is_some()),
        Access::Create { .. } => options.write(true).create_new(true),
    };
    match fs::symlink_metadata(&full) {
        Ok(found) if !found.is_file() => Err(not_plain()),
        _ => options.open(full),
    }
}

pub(crate) fn open_named(path: &Path) -> io::Result<File> {
    File::open(path)
}

pub(crate) fn make_dir(dir: &Handle, path: &Path, _mode: u32) -> io::Result<()> {
    fs::create_dir(without_links(dir, path)?)
}

pub(crate) fn rename(dir: &Handle, from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(without_links(dir, from)?, without_links(dir, to)?)
}

pub(crate) fn remove(dir: &Handle, path: &Path, what: Removed) -> io::Result<()> {
    let full = without_links(dir, path)?;
    if what == Removed::Directory { fs::remove_dir(full) } else { fs::remove_file(full) }
}

pub(crate) fn make_private_dirs(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

#[expect(clippy::unnecessary_wraps, reason = "the same call as where files have owners")]
pub(crate) fn check_own(_: &Handle, _: Sharing) -> io::Result<()> {
    Ok(())
}

pub(crate) fn is_still_own(dir: &Handle, parent: Option<&Handle>, path: &Path, _: Sharing) -> bool {
    let path = parent.map_or_else(|| path.to_owned(), |parent| parent.0.join(path));
    path == dir.0 && path.is_dir()
}

#[expect(clippy::unnecessary_wraps, reason = "the same call as where directories have modes")]
pub(crate) fn open_to_owner(_: &Handle) -> io::Result<()> {
    Ok(())
}

pub(crate) fn user_id() -> Option<u32> {
    None
}

pub(crate) fn is_own_directory(path: &Path) -> bool {
    path.is_dir()
}
