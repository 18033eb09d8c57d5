//! The control files of a group: short texts, read and written whole, relative to an open directory.
//!
//! Knows the files' syntax, not the meaning of the values.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;

/// Reads a whole control file.
pub(super) fn read(dir: impl AsFd, name: &str) -> Option<String> {
    String::from_utf8(read_bytes(dir, name)?).ok()
}

/// Reads a whole kernel file. Its size is not known in advance, and the kernel regenerates it for every small
/// read.
pub(super) fn read_bytes(dir: impl AsFd, name: &str) -> Option<Vec<u8>> {
    let file = openat(dir, name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut text = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        match rustix::io::read(&file, &mut buffer) {
            Ok(0) => return Some(text),
            Ok(count) => text.extend_from_slice(buffer.get(..count)?),
            Err(Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

/// Opens a file that is read repeatedly, each time with its current contents. The text fits into a page.
pub(super) fn open_for_reading(dir: impl AsFd, name: &str) -> Option<OwnedFd> {
    openat(dir, name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()
}

/// Reads the current contents.
pub(super) fn read_again(file: impl AsFd) -> Option<String> {
    let mut buffer = [0; 4096];
    let count = rustix::io::pread(file, &mut buffer, 0).ok()?;
    str::from_utf8(buffer.get(..count)?).ok().map(str::to_owned)
}

/// Reads a single number; `max`, or a number that means it, is `None`.
pub(super) fn read_limit(dir: impl AsFd, name: &str) -> Option<u64> {
    limit_in(&read(dir, name)?)
}

pub(super) fn limit_in(text: &str) -> Option<u64> {
    let value = text.trim().parse().ok()?;
    // Version 1 writes "no limit" as the largest whole number of pages, or -1.
    (value < i64::MAX as u64 - (1 << 20)).then_some(value)
}

/// The number after a key in a text of `key value` lines.
pub(super) fn key_in(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.split_once(' ').filter(|(name, _)| *name == key)?.1.trim().parse().ok())
}

/// Writes a value in one call, as the kernel requires.
pub(super) fn write(dir: impl AsFd, name: &str, value: &str) -> Result<(), Errno> {
    put(&open_for_writing(dir, name)?, value)
}

pub(super) fn open_for_writing(dir: impl AsFd, name: &str) -> Result<OwnedFd, Errno> {
    openat(dir, name, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())
}

pub(super) fn put(file: impl AsFd, value: &str) -> Result<(), Errno> {
    loop {
        match rustix::io::write(&file, value.as_bytes()) {
            Err(Errno::INTR) => {}
            other => return other.map(drop),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_whole_words() {
        let text = "low 0\noom 3\noom_kill 7\nmax nonsense\n";
        assert_eq!(key_in(text, "oom_kill"), Some(7));
        assert_eq!(key_in(text, "oom"), Some(3));
        assert_eq!(key_in(text, "max"), None);
        assert_eq!(key_in(text, "kill"), None);
    }

    #[test]
    fn unlimited_means_no_limit() {
        let dir = tempfile::tempdir().unwrap();
        let open = std::fs::File::open(dir.path()).unwrap();
        for (text, want) in
            [("max\n", None), ("9223372036854771712\n", None), ("-1\n", None), ("4096\n", Some(4096))]
        {
            std::fs::write(dir.path().join("f"), text).unwrap();
            assert_eq!(read_limit(&open, "f"), want, "{text}");
        }
    }
}
