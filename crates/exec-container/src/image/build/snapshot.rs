//! The project as it was when it was looked at, in a directory that no command reaches.
//!
//! For Podman: its program packs what it is given, the Dockerfile from elsewhere included, and its service unpacks that and
//! writes through links of the project on the way. In a copy that has the Dockerfile in its place, nothing is packed from
//! elsewhere.

use std::io;
use std::path::{Path, PathBuf};

use exec_files::{Dir, FileKind};

use super::inputs::{DEEPEST, Ignored, MOST_BYTES, MOST_FILES, too_deep, too_much};

/// Copies what is beneath `root`, but for what is ignored, into the empty directory `into`. Pipes, sockets and devices are left
/// out. Not by recursion: how deep it is, a command decides.
pub(super) fn copy(root: &Dir, ignored: &Ignored, into: &Dir) -> io::Result<()> {
    let (mut files, mut bytes) = (0, 0);
    let mut waiting = vec![PathBuf::new()];
    let mut directories = Vec::new();
    while let Some(directory) = waiting.pop() {
        if directory.iter().count() > DEEPEST {
            return Err(too_deep(&directory));
        }
        let opened = if directory.as_os_str().is_empty() { None } else { Some(root.dir(&directory)?) };
        let entries = opened.as_ref().unwrap_or(root).entries(MOST_FILES)?;
        files += entries.len();
        for entry in entries {
            let path = directory.join(&entry.name);
            if ignored.leaves_out(&path.to_string_lossy(), &entry.name.to_string_lossy()) {
                continue;
            }
            match entry.kind {
                FileKind::Directory => {
                    into.make_dir(&path, 0o755)?;
                    directories.push((path.clone(), root.metadata(&path)?.modified()?));
                    waiting.push(path);
                }
                FileKind::Link => {
                    into.make_link(&path, &root.link_target(&path)?)?;
                    into.set_modified(&path, root.metadata(&path)?.modified()?)?;
                }
                FileKind::File => bytes += copy_file(root, into, &path, MOST_BYTES - bytes)?,
                FileKind::Special => {}
            }
        }
        if files >= MOST_FILES || bytes >= MOST_BYTES {
            return Err(too_much());
        }
    }
    // Builders take files for the same only if their times are. What was made in a directory has changed its time.
    directories.iter().rev().try_for_each(|(path, time)| into.set_modified(path, *time))
}

/// Copies at most so many bytes, and returns how many there were.
fn copy_file(root: &Dir, into: &Dir, path: &Path, most: u64) -> io::Result<u64> {
    let file = root.file(path)?;
    let found = file.metadata()?;
    if found.len() > most {
        return Err(too_much());
    }
    let mut copy = into.create_file(path, 0o600)?;
    let length = io::copy(&mut io::Read::take(file, most), &mut copy)?;
    copy.set_permissions(found.permissions())?;
    copy.set_modified(found.modified()?)?;
    Ok(length)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// A43
    #[test]
    fn a_copy_has_what_a_build_can_take_and_nothing_from_elsewhere() {
        let (project, copied) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let at = |name: &str| project.path().join(name);
        fs::create_dir_all(at("src/deep")).unwrap();
        fs::create_dir(at("target")).unwrap();
        for name in ["run.sh", "src/deep/file", "target/large"] {
            fs::write(at(name), name).unwrap();
        }
        fs::set_permissions(at("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        symlink("/etc/passwd", at("link")).unwrap();
        symlink("/etc", at("src/way")).unwrap();
        drop(std::os::unix::net::UnixListener::bind(at("socket")).unwrap());
        let open = |dir: &tempfile::TempDir| Dir::open(&dir.path().canonicalize().unwrap()).unwrap();
        copy(&open(&project), &Ignored::of("target"), &open(&copied)).unwrap();
        let there = |name: &str| copied.path().join(name);
        assert_eq!(fs::read_to_string(there("src/deep/file")).unwrap(), "src/deep/file");
        assert_eq!(fs::metadata(there("run.sh")).unwrap().permissions().mode() & 0o777, 0o755);
        for name in ["run.sh", "link", "src", "src/deep"] {
            let time = |path: PathBuf| fs::symlink_metadata(path).unwrap().modified().unwrap();
            assert_eq!(time(there(name)), time(at(name)), "{name}");
        }
        assert_eq!(fs::read_link(there("link")).unwrap(), Path::new("/etc/passwd"));
        assert_eq!(fs::read_link(there("src/way")).unwrap(), Path::new("/etc"));
        assert!(!there("target").exists() && !there("socket").exists());
    }

    /// A43: what a sparse file says of its length is enough.
    #[test]
    fn too_much_is_not_copied() {
        let (project, copied) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::File::create(project.path().join("huge")).unwrap().set_len(MOST_BYTES + 1).unwrap();
        let open = |dir: &tempfile::TempDir| Dir::open(&dir.path().canonicalize().unwrap()).unwrap();
        copy(&open(&project), &Ignored::default(), &open(&copied)).unwrap_err();
    }
}
