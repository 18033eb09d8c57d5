//! Reading and making files where a command of another run may be renaming things meanwhile: no link is followed, and
//! nothing that was put there makes us wait or read without end.

pub(super) use sys::{make_directory, make_file, path, read_small};

/// Longer than any path.
const SMALL: u64 = 8192;

#[cfg(unix)]
mod sys {
    use std::ffi::OsStr;
    use std::fs::File;
    use std::io::{self, ErrorKind, Read, Write};
    use std::os::fd::OwnedFd;
    use std::os::unix::ffi::OsStrExt;
    use std::path::{Path, PathBuf};

    use rustix::fs::{AtFlags, CWD, Mode, OFlags, chownat, fstat, mkdirat, openat, unlinkat};
    use rustix::process::{Gid, Uid, geteuid};

    use super::SMALL;

    pub(in super::super) fn path(bytes: &[u8]) -> PathBuf {
        OsStr::from_bytes(bytes).into()
    }

    /// A regular file's contents.
    pub(in super::super) fn read_small(path: &Path) -> io::Result<Vec<u8>> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(openat(CWD, path, flags, Mode::empty())?);
        let found = file.metadata()?;
        if !found.is_file() || found.len() > SMALL {
            return Err(ErrorKind::InvalidData.into());
        }
        let mut contents = Vec::new();
        file.take(SMALL).read_to_end(&mut contents)?;
        Ok(contents)
    }

    pub(in super::super) fn make_directory(dir: &Path, name: &str) -> io::Result<()> {
        let dir = open(dir)?;
        mkdirat(&dir, name, Mode::from_raw_mode(0o755))?;
        give_away(&dir, name);
        Ok(())
    }

    pub(in super::super) fn make_file(dir: &Path, name: &str, contents: &[u8]) -> io::Result<()> {
        let dir = open(dir)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mut file = File::from(openat(&dir, name, flags, Mode::from_raw_mode(0o644))?);
        give_away(&dir, name);
        file.write_all(contents).inspect_err(|_| {
            // Half of it would mean something else. If it can't be removed either, the error says enough.
            let _ = unlinkat(&dir, name, AtFlags::empty());
        })
    }

    fn open(dir: &Path) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(CWD, dir, flags, Mode::empty())?)
    }

    /// What root makes in somebody's repository belongs to that somebody. It is of use even if that fails.
    fn give_away(dir: &OwnedFd, name: &str) {
        if let Ok(owner) = fstat(dir)
            && owner.st_uid != geteuid().as_raw()
        {
            let (uid, gid) = (Uid::from_raw(owner.st_uid), Gid::from_raw(owner.st_gid));
            let _ = chownat(dir, name, Some(uid), Some(gid), AtFlags::SYMLINK_NOFOLLOW);
        }
    }
}

#[cfg(not(unix))]
mod sys {
    use std::fs;
    use std::io;
    use std::path::{Path, PathBuf};

    use super::SMALL;

    /// What is no text leads nowhere.
    pub(in super::super) fn path(bytes: &[u8]) -> PathBuf {
        String::from_utf8_lossy(bytes).into_owned().into()
    }

    pub(in super::super) fn read_small(path: &Path) -> io::Result<Vec<u8>> {
        let found = fs::symlink_metadata(path)?;
        if !found.is_file() || found.len() > SMALL {
            return Err(io::ErrorKind::InvalidData.into());
        }
        fs::read(path)
    }

    pub(in super::super) fn make_directory(dir: &Path, name: &str) -> io::Result<()> {
        fs::create_dir(dir.join(name))
    }

    pub(in super::super) fn make_file(dir: &Path, name: &str, contents: &[u8]) -> io::Result<()> {
        io::Write::write_all(&mut fs::File::create_new(dir.join(name))?, contents)
    }
}
