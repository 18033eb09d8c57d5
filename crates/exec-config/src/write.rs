//! All output of this crate: files that are replaced as a whole or not at all.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// Whether a file that is there may be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// It may.
    Replace,
    /// It stays, and that is an error.
    Keep,
}

/// A file that is no secret but somebody's own word: nobody else reads or writes it.
pub(crate) fn private(path: &Path, text: &str) -> io::Result<()> {
    let Some(directory) = path.parent() else { return Err(io::ErrorKind::InvalidInput.into()) };
    fs::create_dir_all(directory)?;
    let draft = directory.join(format!(".{}.{}", name(path), std::process::id()));
    let written = create(&draft, text).and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        // What is left of it is no harm, and the error says enough.
        let _ = fs::remove_file(&draft);
    }
    written
}

/// A file for people to edit.
pub(crate) fn plain(path: &Path, text: &str, existing: Existing) -> io::Result<()> {
    if let Some(directory) = path.parent().filter(|directory| !directory.as_os_str().is_empty()) {
        fs::create_dir_all(directory)?;
    }
    match existing {
        Existing::Replace => fs::write(path, text),
        Existing::Keep => fs::File::create_new(path)?.write_all(text.as_bytes()),
    }
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn create(path: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

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
}
