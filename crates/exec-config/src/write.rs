//! All output of this crate: files are replaced atomically, and never written through a link.

use std::io;
use std::path::Path;

use exec_files::{Dir, Sharing};

use crate::surroundings::split;

/// Whether an existing file may be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// It may.
    Replace,
    /// An existing file is an error.
    Keep,
}

/// Writes a file on which the user's trust decisions rest: others can neither read nor write it, nor write its
/// directory.
pub(crate) fn private(path: &Path, text: &str) -> io::Result<()> {
    let (directory, name) = split(path)?;
    Dir::make_own(directory, Sharing::Readable)?.replace(name, 0o600, text.as_bytes())
}

/// Writes a file for people to edit.
pub(crate) fn plain(path: &Path, text: &str, existing: Existing) -> io::Result<()> {
    let (directory, name) = split(path)?;
    let dir = match directory.canonicalize() {
        Ok(directory) => Dir::open(&directory)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Dir::make_own(directory, Sharing::Readable)?,
        Err(error) => return Err(error),
    };
    match existing {
        Existing::Replace => dir.replace(name, 0o666, text.as_bytes()),
        Existing::Keep => dir.create(name, 0o666, text.as_bytes()),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_private_file_is_whole_and_nobody_elses() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("agentctl/trusted");
        for text in ["first", "second"] {
            private(&path, text).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "no draft is left");
    }

    #[test]
    fn what_is_there_stays_unless_it_may_be_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        plain(&path, "first", Existing::Keep).unwrap();
        assert!(plain(&path, "second", Existing::Keep).is_err());
        plain(&path, "third", Existing::Replace).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "third");
    }

    /// A43: a link's target stays unchanged.
    #[test]
    fn nothing_is_written_through_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let (outside, link) = (dir.path().join("outside"), dir.path().join("link"));
        fs::write(&outside, "theirs").unwrap();
        symlink(&outside, &link).unwrap();
        assert!(plain(&link, "ours", Existing::Keep).is_err());
        plain(&link, "ours", Existing::Replace).unwrap();
        assert_eq!(fs::read_to_string(&link).unwrap(), "ours");
        assert_eq!(fs::read_to_string(&outside).unwrap(), "theirs");
    }

    /// A41: a list in a directory that others may write is ignored.
    #[test]
    fn a_private_file_is_in_a_directory_of_ours() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state");
        fs::create_dir(&state).unwrap();
        fs::set_permissions(&state, fs::Permissions::from_mode(0o777)).unwrap();
        let error = private(&state.join("trusted"), "x").unwrap_err();
        assert_eq!(error.to_string(), "it is open to others (mode 777)");
    }
}
