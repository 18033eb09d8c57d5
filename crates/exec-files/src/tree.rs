//! Removes a whole directory tree, however deep a command made it.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use crate::dir::{Dir, FileKind, draft_name};
use crate::os;

/// How many entries of a directory are read at once.
const AT_ONCE: usize = 4096;

impl Dir {
    /// Removes a directory in this one, with everything in it. Links in the tree are removed, never followed.
    ///
    /// Works on trees of any depth: a directory that is not empty moves up to the top of the tree, so that neither the stack
    /// nor the number of open descriptors grows with the depth.
    ///
    /// # Errors
    ///
    /// Fails if an entry of the tree can't be removed; entries removed before that are gone.
    pub fn remove_tree(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        let name = Path::new(name.as_ref());
        let top = self.dir(name)?;
        os::open_to_owner(&top.0)?;
        loop {
            let entries = top.entries(AT_ONCE)?;
            if entries.is_empty() {
                break;
            }
            for entry in entries {
                if entry.kind == FileKind::Directory {
                    empty(&top, Path::new(&entry.name))?;
                    top.remove_dir(&entry.name)?;
                } else {
                    top.remove_file(&entry.name)?;
                }
            }
        }
        self.remove_dir(name)
    }
}

/// Empties a directory: removes its files, and moves its directories to the top.
fn empty(top: &Dir, name: &Path) -> io::Result<()> {
    let dir = top.dir(name)?;
    os::open_to_owner(&dir.0)?;
    loop {
        let entries = dir.entries(AT_ONCE)?;
        if entries.is_empty() {
            return Ok(());
        }
        for entry in entries {
            if entry.kind != FileKind::Directory {
                dir.remove_file(&entry.name)?;
            } else if dir.remove_dir(&entry.name).is_err() {
                // Moving a directory takes the right to write in it.
                os::open_to_owner(&dir.dir(&entry.name)?.0)?;
                top.rename(name.join(&entry.name), draft_name())?;
            }
        }
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// F13: deeper than a path can be long, and than descriptors may be open.
    #[test]
    fn a_deep_tree_is_removed() {
        let place = tempfile::tempdir().unwrap();
        let dir = Dir::open(&place.path().canonicalize().unwrap()).unwrap();
        dir.make_dir("tree", 0o700).unwrap();
        let mut here = dir.dir("tree").unwrap();
        for _ in 0..10_000 {
            here.create("file", 0o600, b"").unwrap();
            here.make_dir("d", 0o700).unwrap();
            here = here.dir("d").unwrap();
        }
        drop(here);
        dir.remove_tree("tree").unwrap();
        assert!(dir.entries(10).unwrap().is_empty());
    }

    /// A3, A41: modes and links that a command left.
    #[test]
    fn a_tree_is_removed_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().canonicalize().unwrap();
        fs::create_dir_all(path.join("tree/closed/inner")).unwrap();
        fs::create_dir_all(path.join("precious")).unwrap();
        fs::write(path.join("precious/file"), "kept").unwrap();
        fs::write(path.join("tree/closed/inner/file"), "").unwrap();
        symlink(path.join("precious"), path.join("tree/link")).unwrap();
        symlink("/dev/zero", path.join("tree/closed/inner/device")).unwrap();
        for closed in ["tree/closed/inner", "tree/closed", "tree"] {
            fs::set_permissions(path.join(closed), fs::Permissions::from_mode(0o000)).unwrap();
        }
        let dir = Dir::open(&path).unwrap();
        dir.remove_tree("tree").unwrap();
        assert!(!path.join("tree").exists());
        assert_eq!(fs::read(path.join("precious/file")).unwrap(), b"kept");
        symlink(path.join("precious"), path.join("tree")).unwrap();
        dir.remove_tree("tree").unwrap_err();
        assert!(path.join("precious/file").exists(), "a link is not a tree");
    }
}
