//! Facts about files and the machine that each system reports in its own way.

use std::path::{Path, PathBuf};

use crate::{ByteSize, Result};

/// The identity of a file: equal identities mean the same file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileId {
    /// Device number.
    pub dev: u64,
    /// Inode number.
    pub ino: u64,
    /// When it was created, in nanoseconds, or 0 if the file system does not report it: inode numbers are reused.
    pub born: u64,
}

#[cfg(unix)]
mod sys {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    use std::time::UNIX_EPOCH;

    use super::{FileId, Path, PathBuf};

    pub(super) fn id(metadata: &std::fs::Metadata) -> FileId {
        let born = metadata.created().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let born = born.map_or(0, |since| since.as_nanos() as u64);
        FileId { dev: metadata.dev(), ino: metadata.ino(), born }
    }

    #[cfg(target_os = "linux")]
    pub(super) fn metadata_without_links(path: &Path) -> std::io::Result<std::fs::Metadata> {
        use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
        use rustix::io::Errno;
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
            Ok(file) => std::fs::File::from(file).metadata(),
            // Old kernels lack the call, and some filters refuse unknown calls.
            Err(Errno::NOSYS | Errno::PERM) => super::metadata_of_last(path),
            Err(error) => Err(error.into()),
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) use super::metadata_of_last as metadata_without_links;

    pub(super) fn owner(metadata: &std::fs::Metadata) -> (u32, u32) {
        (metadata.uid(), metadata.gid())
    }

    pub(super) fn mode(metadata: &std::fs::Metadata) -> u32 {
        metadata.mode()
    }

    pub(super) fn is_socket(path: &Path) -> bool {
        path.metadata().is_ok_and(|metadata| metadata.file_type().is_socket())
    }

    pub(super) fn has_other_names(metadata: &std::fs::Metadata) -> bool {
        metadata.nlink() > 1
    }

    pub(super) fn path(bytes: &[u8]) -> PathBuf {
        <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes).into()
    }
}

#[cfg(not(unix))]
mod sys {
    use super::{FileId, Path, PathBuf};

    pub(super) fn id(_: &std::fs::Metadata) -> FileId {
        FileId { dev: 0, ino: 0, born: 0 }
    }

    pub(super) use super::metadata_of_last as metadata_without_links;

    pub(super) fn owner(_: &std::fs::Metadata) -> (u32, u32) {
        (0, 0)
    }

    pub(super) fn mode(_: &std::fs::Metadata) -> u32 {
        0o777
    }

    pub(super) fn is_socket(_: &Path) -> bool {
        false
    }

    /// The number of names is unknown on this platform.
    pub(super) fn has_other_names(_: &std::fs::Metadata) -> bool {
        false
    }

    /// Bytes that are not UTF-8 give a path that does not exist.
    pub(super) fn path(bytes: &[u8]) -> PathBuf {
        String::from_utf8_lossy(bytes).into_owned().into()
    }
}

pub(super) fn is_socket(path: &Path) -> bool {
    sys::is_socket(path)
}

pub(super) fn id(metadata: &std::fs::Metadata) -> FileId {
    sys::id(metadata)
}

/// Whether a directory's owner may read, write and enter it.
pub(super) fn is_open_to_its_owner(metadata: &std::fs::Metadata) -> bool {
    sys::mode(metadata) & 0o700 == 0o700
}

/// Whether the file has another name.
pub(super) fn has_other_names(metadata: &std::fs::Metadata) -> bool {
    sys::has_other_names(metadata)
}

/// A path as written in a file.
pub(super) fn path(bytes: &[u8]) -> PathBuf {
    sys::path(bytes)
}

/// The identity of the file at a canonical path. Such a path has no links; if a part has become a link since, it is
/// refused, because the link's target was never checked.
pub(super) fn file_id(path: &Path) -> Result<FileId> {
    sys::metadata_without_links(path).map(|metadata| sys::id(&metadata)).map_err(|error| unseen(path, error))
}

pub(super) fn owner(path: &Path) -> Result<(u32, u32)> {
    metadata(path).map(|metadata| sys::owner(&metadata))
}

/// Permission bits.
pub(super) fn mode(path: &Path) -> Result<u32> {
    metadata(path).map(|metadata| sys::mode(&metadata))
}

fn metadata(path: &Path) -> Result<std::fs::Metadata> {
    path.metadata().map_err(|error| unseen(path, error))
}

fn unseen(path: &Path, error: std::io::Error) -> crate::Error {
    super::invalid(format!("`{}` can't be looked at", path.display()))
        .with_source(error)
        .with_remedy("name a path that exists, that you may read and that stays in place meanwhile")
}

/// Refuses a link as the last part; not every system can check the other parts.
fn metadata_of_last(path: &Path) -> std::io::Result<std::fs::Metadata> {
    let found = path.symlink_metadata()?;
    if found.is_symlink() { Err(std::io::Error::other("it has become a link")) } else { Ok(found) }
}

/// The machine's memory, if the system reports it in a file.
pub(super) fn total_memory() -> Option<ByteSize> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(ByteSize::bytes(kib * 1024))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A4: a link in any part of a path that had none when it was checked.
    #[test]
    fn what_has_become_a_link_has_no_identity() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("real/inner")).unwrap();
        symlink("real", root.join("link")).unwrap();
        assert!(file_id(&root.join("real/inner")).is_ok());
        assert!(file_id(&root.join("link")).is_err(), "the last part");
        if cfg!(target_os = "linux") {
            assert!(file_id(&root.join("link/inner")).is_err(), "another part");
        }
    }
}
