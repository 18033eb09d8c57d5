//! The few facts about files and the machine that each system tells in its own way.

use std::path::Path;

use crate::{ByteSize, Result};

/// Identity of a file: whatever has the same one is the same file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileId {
    /// Device number.
    pub dev: u64,
    /// Inode number.
    pub ino: u64,
    /// When it was made, in nanoseconds, or 0 where the file system does not tell: numbers are used again.
    pub born: u64,
}

#[cfg(unix)]
mod sys {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    use std::time::UNIX_EPOCH;

    use super::{FileId, Path};

    pub(super) fn id(metadata: &std::fs::Metadata) -> FileId {
        let born = metadata.created().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let born = born.map_or(0, |since| since.as_nanos() as u64);
        FileId { dev: metadata.dev(), ino: metadata.ino(), born }
    }

    pub(super) fn owner(metadata: &std::fs::Metadata) -> (u32, u32) {
        (metadata.uid(), metadata.gid())
    }

    pub(super) fn mode(metadata: &std::fs::Metadata) -> u32 {
        metadata.mode()
    }

    pub(super) fn is_socket(path: &Path) -> bool {
        path.metadata().is_ok_and(|metadata| metadata.file_type().is_socket())
    }
}

#[cfg(not(unix))]
mod sys {
    use super::{FileId, Path};

    pub(super) fn id(_: &std::fs::Metadata) -> FileId {
        FileId { dev: 0, ino: 0, born: 0 }
    }

    pub(super) fn owner(_: &std::fs::Metadata) -> (u32, u32) {
        (0, 0)
    }

    pub(super) fn mode(_: &std::fs::Metadata) -> u32 {
        0o777
    }

    pub(super) fn is_socket(_: &Path) -> bool {
        false
    }
}

pub(super) fn is_socket(path: &Path) -> bool {
    sys::is_socket(path)
}

pub(super) fn id(metadata: &std::fs::Metadata) -> FileId {
    sys::id(metadata)
}

pub(super) fn file_id(path: &Path) -> Result<FileId> {
    metadata(path).map(|metadata| sys::id(&metadata))
}

pub(super) fn owner(path: &Path) -> Result<(u32, u32)> {
    metadata(path).map(|metadata| sys::owner(&metadata))
}

/// Permission bits.
pub(super) fn mode(path: &Path) -> Result<u32> {
    metadata(path).map(|metadata| sys::mode(&metadata))
}

fn metadata(path: &Path) -> Result<std::fs::Metadata> {
    path.metadata().map_err(|error| {
        super::invalid(format!("`{}` can't be looked at", path.display()))
            .with_source(error)
            .with_remedy("name a path that exists and that you may read")
    })
}

/// The machine's memory, where the system tells it in a file.
pub(super) fn total_memory() -> Option<ByteSize> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(ByteSize::bytes(kib * 1024))
}
