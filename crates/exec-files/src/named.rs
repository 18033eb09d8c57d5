//! Files that a user named: on a command line, or as their own configuration.
//!
//! Links are followed, because the user means their target. Otherwise the rules of a workspace apply: opening
//! never blocks, only regular files count, and reading has a bound.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::dir::{read_bounded, regular};
use crate::os;

/// Opens a regular file for reading.
///
/// # Errors
///
/// `InvalidInput` if it is a pipe, a socket, a device or a directory.
pub fn open_named(path: &Path) -> io::Result<File> {
    regular(os::open_named(path)?)
}

/// The contents of a regular file of at most `most` bytes.
///
/// # Errors
///
/// As [`open_named`], and `FileTooLarge`.
pub fn read_named(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_bounded(open_named(path)?, most)
}

/// The contents of an open file.
///
/// # Errors
///
/// `FileTooLarge` if it has more than `most` bytes.
pub fn read_open(file: File, most: u64) -> io::Result<Vec<u8>> {
    read_bounded(file, most)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    /// A43
    #[test]
    fn links_are_followed_and_nothing_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "hello").unwrap();
        symlink(at("file"), at("link")).unwrap();
        mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
        File::create(at("sparse")).unwrap().set_len(10 << 30).unwrap();
        assert_eq!(read_named(&at("file"), 5).unwrap(), b"hello");
        assert_eq!(read_named(&at("link"), 5).unwrap(), b"hello");
        assert_eq!(read_named(&at("link"), 4).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(read_named(&at("sparse"), 4).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        for other in [at("pipe"), dir.path().to_owned(), "/dev/zero".into()] {
            assert_eq!(read_named(&other, 5).unwrap_err().kind(), io::ErrorKind::InvalidInput, "{other:?}");
        }
        assert_eq!(open_named(&at("missing")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
