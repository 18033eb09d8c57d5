//! What is in a directory, and who may read it. Thousands of entries are looked at when a program starts, so each takes one
//! system call, relative to its directory.

#[cfg(not(unix))]
pub(crate) use elsewhere::Listing;
#[cfg(unix)]
pub(crate) use unix::Listing;

/// What an entry is to an ordinary user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(unix), expect(dead_code, reason = "only Unix has modes that say it"))]
pub(crate) enum Kind {
    /// An ordinary user can't read it.
    Secret,
    /// To be searched.
    Directory,
    /// Everybody may read it, or it is a link: what a link leads to is judged where it lies.
    Open,
}

#[cfg(unix)]
mod unix {
    use std::ffi::{OsStr, OsString};
    use std::io;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, open, statat};

    use super::Kind;

    /// The entries of a directory.
    pub(crate) struct Listing(Dir);

    impl Listing {
        pub(crate) fn of(directory: &Path) -> io::Result<Self> {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            Ok(Self(Dir::new(open(directory, flags, Mode::empty())?)?))
        }
    }

    impl Iterator for Listing {
        type Item = (OsString, Kind);

        fn next(&mut self) -> Option<Self::Item> {
            loop {
                let entry = self.0.read()?.ok()?;
                let name = entry.file_name();
                if matches!(name.to_bytes(), b"." | b"..") {
                    continue;
                }
                let found = match entry.file_type() {
                    FileType::Symlink => None,
                    // It may be gone by now, or not for us to see.
                    _ => statat(self.0.fd().ok()?, name, AtFlags::SYMLINK_NOFOLLOW).ok(),
                };
                let name = OsStr::from_bytes(name.to_bytes()).to_owned();
                return Some((name, found.map_or(Kind::Open, |found| kind(found.st_mode))));
            }
        }
    }

    fn kind(mode: rustix::fs::RawMode) -> Kind {
        let allows = |rights| Mode::from_raw_mode(mode).contains(rights);
        match FileType::from_raw_mode(mode) {
            FileType::Symlink => Kind::Open,
            FileType::Directory if allows(Mode::ROTH | Mode::XOTH) => Kind::Directory,
            FileType::Directory => Kind::Secret,
            _ if allows(Mode::ROTH) => Kind::Open,
            _ => Kind::Secret,
        }
    }
}

#[cfg(not(unix))]
mod elsewhere {
    use std::ffi::OsString;
    use std::io;
    use std::path::Path;

    use super::Kind;

    /// Nothing: modes do not say who may read what.
    pub(crate) struct Listing;

    impl Listing {
        pub(crate) fn of(_: &Path) -> io::Result<Self> {
            Ok(Self)
        }
    }

    impl Iterator for Listing {
        type Item = (OsString, Kind);

        fn next(&mut self) -> Option<Self::Item> {
            None
        }
    }
}
