//! Mounts that keep files unchanged.

use std::fs::Metadata;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use exec_files::{Dir, FileKind};

use super::{FileId, PlannedMount, invalid, os};
use crate::{Access, Result};

/// A mount on top of the requested ones.
#[derive(Debug, Clone)]
pub(super) enum Fence {
    /// Over an existing file or directory.
    Found(PlannedMount),
    /// Over an entry that has to be created first.
    Missing(MissingEntry),
}

/// A missing directory entry, which a command could create unless a read-only mount is over it.
#[derive(Debug, Clone)]
pub(super) struct MissingEntry {
    pub(super) source: PathBuf,
    pub(super) target: PathBuf,
    pub(super) blank: Blank,
    /// The directory that lacks the entry.
    pub(super) directory: FileId,
}

/// The stand-in for a missing entry. It has the same meaning as no entry.
#[derive(Debug, Clone, Copy)]
pub(super) enum Blank {
    /// An empty directory.
    Directory,
    /// A file with these contents.
    File(&'static [u8]),
}

impl Fence {
    pub(super) fn source(&self) -> &Path {
        match self {
            Self::Found(mount) => &mount.source,
            Self::Missing(entry) => &entry.source,
        }
    }

    pub(super) fn target(&self) -> &Path {
        match self {
            Self::Found(mount) => &mount.target,
            Self::Missing(entry) => &entry.target,
        }
    }

    pub(super) fn access(&self) -> Access {
        match self {
            Self::Found(mount) => mount.access,
            Self::Missing(_) => Access::ReadOnly,
        }
    }

    pub(super) fn found(&self) -> Option<&PlannedMount> {
        match self {
            Self::Found(mount) => Some(mount),
            Self::Missing(_) => None,
        }
    }

    /// The same fence with its directory at another place.
    pub(super) fn at(self, target: PathBuf) -> Self {
        match self {
            Self::Found(mount) => Self::Found(PlannedMount { target, ..mount }),
            Self::Missing(entry) => Self::Missing(MissingEntry { target, ..entry }),
        }
    }

    /// Returns the mount, after creating what it needs. The cell checks that it mounts the same file.
    pub(super) fn put_up(&self) -> Result<PlannedMount> {
        match self {
            Self::Found(mount) => Ok(mount.clone()),
            Self::Missing(entry) => entry.make().map_err(|error| {
                invalid(format!(
                    "`{}` can't be kept as it is, and the host takes orders from it",
                    entry.source.display()
                ))
                .with_source(error)
                .with_remedy(
                    "if its directory changed just now, try again; else see that you can write there, or mount the \
                     workspace read-only",
                )
            }),
        }
    }
}

impl MissingEntry {
    /// Creates the entry, unless another run has done so since.
    fn make(&self) -> io::Result<PlannedMount> {
        let (Some(directory), Some(name)) = (self.source.parent(), self.source.file_name()) else {
            return Err(ErrorKind::InvalidInput.into());
        };
        let dir = Dir::open(directory)?;
        if os::id(&dir.own_metadata()?) != self.directory {
            return Err(io::Error::other("its directory was replaced"));
        }
        match self.blank.create(&dir, Path::new(name)) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            made => made?,
        }
        let found = dir.metadata(name)?;
        if !self.blank.fits(&found) {
            return Err(io::Error::other("something else has taken its place"));
        }
        let (source, target) = (self.source.clone(), self.target.clone());
        Ok(PlannedMount { source, target, access: Access::ReadOnly, id: os::id(&found) })
    }
}

impl Blank {
    /// Whether a read-only mount keeps an entry unchanged: not a link, which can be replaced whatever is mounted at its
    /// target, nor a file that can be written by another name.
    pub(super) fn fits(self, found: &Metadata) -> bool {
        match (self, FileKind::of(found)) {
            (Self::Directory, kind) => kind == FileKind::Directory,
            (Self::File(_), kind) => kind == FileKind::File && !os::has_other_names(found),
        }
    }

    fn create(self, dir: &Dir, name: &Path) -> io::Result<()> {
        match self {
            Self::Directory => dir.make_dir(name, 0o755),
            Self::File(contents) => dir.create(name, 0o644, contents),
        }
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
