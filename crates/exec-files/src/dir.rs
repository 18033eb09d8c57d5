//! A directory by its descriptor, for places that a command can write.
//!
//! Every call guarantees:
//!
//! - The lookup starts at the descriptor and stays beneath it. A link anywhere on the path is an error.
//! - Opening never blocks: a pipe without a writer is an error, as is everything else that is not a regular
//!   file.
//! - Reading has a bound, which the caller states.
//! - New files are created exclusively and replace others only by a rename in the same directory, so a
//!   planted link or pipe is replaced and never written through.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Component, Path};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

use crate::os;

mod links;

/// A directory, held by its descriptor: it stays the same even if its path is renamed or replaced.
#[derive(Debug)]
pub struct Dir(pub(crate) os::Handle);

/// One entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: OsString,
    /// Its kind; a link is not followed.
    pub kind: FileKind,
}

/// The kind of a directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A pipe, a socket or a device.
    Special,
}

/// What other users may do in a private directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Read, but not write.
    Readable,
    /// Nothing at all.
    Closed,
}

impl Dir {
    /// Opens the directory at a path. No part of the path may be a link: canonicalise a user's input first.
    ///
    /// # Errors
    ///
    /// Fails if a part of the path is missing, a link, or not a directory.
    pub fn open(path: &Path) -> io::Result<Self> {
        os::open_root(path).map(Self)
    }

    /// Opens a directory that belongs to this user; creates it, and missing parents, if necessary.
    ///
    /// Owner and mode are checked on the descriptor, so they hold for every later call.
    ///
    /// # Errors
    ///
    /// `PermissionDenied` if the directory belongs to another user or gives others more than `sharing`.
    pub fn make_own(path: &Path, sharing: Sharing) -> io::Result<Self> {
        match Self::open_own(path, sharing) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                os::make_private_dirs(path)?;
                Self::open_own(path, sharing)
            }
            opened => opened,
        }
    }

    /// Like [`make_own`](Self::make_own), without creating anything.
    ///
    /// # Errors
    ///
    /// As [`make_own`](Self::make_own), and `NotFound`.
    pub fn open_own(path: &Path, sharing: Sharing) -> io::Result<Self> {
        // Links above it belong to the user or the system (`/var/run`); the directory itself must not be one.
        let real = match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) => parent.canonicalize()?.join(name),
            _ => path.to_owned(),
        };
        let dir = Self::open(&real).map_err(|error| match error.kind() {
            // The system does not distinguish the two.
            io::ErrorKind::NotADirectory => io::Error::new(error.kind(), "it is a link, or not a directory"),
            _ => error,
        })?;
        os::check_own(&dir.0, sharing)?;
        Ok(dir)
    }

    /// Opens a directory in this one, which must be private too.
    ///
    /// # Errors
    ///
    /// As [`open_own`](Self::open_own).
    pub fn own_dir(&self, path: impl AsRef<Path>, sharing: Sharing) -> io::Result<Self> {
        let dir = self.dir(path)?;
        os::check_own(&dir.0, sharing)?;
        Ok(dir)
    }

    /// Whether this path still leads to this directory, and the directory is still private.
    ///
    /// Three cheap system calls, for a directory that is held open and used repeatedly.
    pub fn is_still_own(&self, path: &Path, sharing: Sharing) -> bool {
        os::is_still_own(&self.0, None, path, sharing)
    }

    /// The same for a directory in another one that is held open.
    pub fn is_still_own_in(&self, parent: &Self, path: impl AsRef<Path>, sharing: Sharing) -> bool {
        plain(path.as_ref()).is_ok_and(|path| os::is_still_own(&self.0, Some(&parent.0), path, sharing))
    }

    /// Opens a directory beneath this one.
    ///
    /// # Errors
    ///
    /// Fails if it is missing, or anything but a directory.
    pub fn dir(&self, path: impl AsRef<Path>) -> io::Result<Self> {
        os::open_dir(&self.0, plain(path.as_ref())?).map(Self)
    }

    /// The metadata of an entry; a link is not followed.
    ///
    /// # Errors
    ///
    /// Fails if it, or a directory on the path, is missing, or if the path leads through a link.
    pub fn metadata(&self, path: impl AsRef<Path>) -> io::Result<Metadata> {
        os::metadata(&self.0, plain(path.as_ref())?)
    }

    /// The directory's own metadata.
    ///
    /// # Errors
    ///
    /// Fails if the system does not return it.
    pub fn own_metadata(&self) -> io::Result<Metadata> {
        os::own_metadata(&self.0)
    }

    /// The target of a link beneath this directory. It is text from the workspace, not a path to follow.
    pub fn is_writable(&self) -> bool {
        os::is_writable(&self.0)
    }

    /// Where a link beneath this directory points. It is text from the workspace, not a path to follow.
    ///
    /// # Errors
    ///
    /// Fails if the entry is not a link.
    pub fn link_target(&self, path: impl AsRef<Path>) -> io::Result<OsString> {
        os::link_target(&self.0, plain(path.as_ref())?)
    }

    /// Creates a link with this text.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` if any entry has that name.
    pub fn make_link(&self, path: impl AsRef<Path>, target: &OsStr) -> io::Result<()> {
        os::make_link(&self.0, plain(path.as_ref())?, target)
    }

    /// Sets the modification time of an entry; of a link, that of the link itself.
    ///
    /// # Errors
    ///
    /// As `utimensat` reports them.
    pub fn set_modified(&self, path: impl AsRef<Path>, time: SystemTime) -> io::Result<()> {
        os::set_modified(&self.0, plain(path.as_ref())?, time)
    }

    /// The entries of this directory, at most `most` of them, sorted by name.
    ///
    /// # Errors
    ///
    /// Fails if it can't be read. Entries beyond `most` are left out without an error.
    pub fn entries(&self, most: usize) -> io::Result<Vec<Entry>> {
        let mut entries = os::entries(&self.0, most)?;
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// Opens a regular file beneath this directory for reading.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if it is not a regular file.
    pub fn file(&self, path: impl AsRef<Path>) -> io::Result<File> {
        regular(os::open_file(&self.0, plain(path.as_ref())?, os::Access::Read)?)
    }

    /// The contents of a regular file of at most `most` bytes.
    ///
    /// # Errors
    ///
    /// As [`file`](Self::file), and `FileTooLarge`.
    pub fn read(&self, path: impl AsRef<Path>, most: u64) -> io::Result<Vec<u8>> {
        read_bounded(self.file(path)?, most)
    }

    /// Opens a regular file for appending, and creates it if it is missing: for records and locks.
    ///
    /// # Errors
    ///
    /// As [`file`](Self::file).
    pub fn append(&self, path: impl AsRef<Path>, mode: u32) -> io::Result<File> {
        regular(os::open_file(&self.0, plain(path.as_ref())?, os::Access::Append { create: Some(mode) })?)
    }

    /// Opens an existing regular file for appending.
    ///
    /// # Errors
    ///
    /// As [`file`](Self::file).
    pub fn append_existing(&self, path: impl AsRef<Path>) -> io::Result<File> {
        regular(os::open_file(&self.0, plain(path.as_ref())?, os::Access::Append { create: None })?)
    }

    /// Creates an empty file. A file made by root in another user's directory belongs to that user.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` if any entry has that name, including a dangling link.
    pub fn create_file(&self, path: impl AsRef<Path>, mode: u32) -> io::Result<File> {
        os::open_file(&self.0, plain(path.as_ref())?, os::Access::Create { mode })
    }

    /// Creates a file with these contents, completely or not at all.
    ///
    /// # Errors
    ///
    /// As [`create_file`](Self::create_file).
    pub fn create(&self, path: impl AsRef<Path>, mode: u32, contents: &[u8]) -> io::Result<()> {
        let path = path.as_ref();
        let mut file = self.create_file(path, mode)?;
        file.write_all(contents).inspect_err(|_| {
            // An incomplete file would have another meaning. If it can't be removed either, the first error
            // is enough.
            let _ = self.remove_file(path);
        })
    }

    /// Writes a file with these contents in place of any entry of that name, completely or not at all.
    ///
    /// # Errors
    ///
    /// Fails if a directory has that name, or if the file can't be written.
    pub fn replace(&self, path: impl AsRef<Path>, mode: u32, contents: &[u8]) -> io::Result<()> {
        let path = path.as_ref();
        let draft = path.with_file_name(draft_name());
        self.create(&draft, mode, contents)?;
        self.rename(&draft, path).inspect_err(|_| {
            // As above.
            let _ = self.remove_file(&draft);
        })
    }

    /// Renames an entry, within this directory or between directories beneath it.
    ///
    /// # Errors
    ///
    /// As `renameat` reports them.
    pub fn rename(&self, from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
        os::rename(&self.0, plain(from.as_ref())?, plain(to.as_ref())?)
    }

    /// Creates a directory.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` if any entry has that name.
    pub fn make_dir(&self, path: impl AsRef<Path>, mode: u32) -> io::Result<()> {
        os::make_dir(&self.0, plain(path.as_ref())?, mode)
    }

    /// Removes an entry that is not a directory.
    ///
    /// # Errors
    ///
    /// As `unlinkat` reports them.
    pub fn remove_file(&self, path: impl AsRef<Path>) -> io::Result<()> {
        os::remove(&self.0, plain(path.as_ref())?, os::Removed::File)
    }

    /// Removes an empty directory.
    ///
    /// # Errors
    ///
    /// As `unlinkat` reports them.
    pub fn remove_dir(&self, path: impl AsRef<Path>) -> io::Result<()> {
        os::remove(&self.0, plain(path.as_ref())?, os::Removed::Directory)
    }
}

impl FileKind {
    /// The kind of an inspected entry.
    pub fn of(found: &Metadata) -> Self {
        match found.file_type() {
            kind if kind.is_file() => Self::File,
            kind if kind.is_dir() => Self::Directory,
            kind if kind.is_symlink() => Self::Link,
            _ => Self::Special,
        }
    }
}

/// Accepts a path that only goes down. Any other path is a mistake of ours, or text that was taken for a
/// path.
fn plain(path: &Path) -> io::Result<&Path> {
    let goes_down = path.components().all(|part| matches!(part, Component::Normal(_)));
    let is_named = path.file_name().is_some() && !path.as_os_str().as_encoded_bytes().contains(&0);
    if goes_down && is_named {
        Ok(path)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "the path does not lead down from its directory"))
    }
}

/// Splits a plain path into its directory, if any, and its last part.
pub(crate) fn split(path: &Path) -> (Option<&Path>, &OsStr) {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    (parent, path.file_name().unwrap_or_default())
}

pub(crate) fn regular(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"))
    }
}

pub(crate) fn read_bounded(file: File, most: u64) -> io::Result<Vec<u8>> {
    // A sparse file reveals its length before its zeros are read.
    let length = file.metadata()?.len();
    let mut contents = Vec::new();
    if length <= most {
        file.take(most.saturating_add(1)).read_to_end(&mut contents)?;
    }
    if length > most || contents.len() as u64 > most {
        let message = format!("it is longer than {most} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(contents)
}

/// A unique name for a draft. A planted entry of that name is harmless, because drafts are created
/// exclusively.
pub(crate) fn draft_name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let moment = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let nanos = moment.map_or(0, |since| since.as_nanos());
    format!(".agentctl-{}-{number}-{nanos:x}.new", std::process::id())
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests;
