//! A copy of the project as it was hashed, in a directory that no command reaches.
//!
//! A build that read the project itself could read other files than those its image is named after. The `podman`
//! CLI also packs its input, including a Dockerfile from elsewhere, and its service unpacks that and writes through
//! links of the project on the way. In a copy that has the Dockerfile in place, nothing is packed from elsewhere.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use exec_files::{Dir, FileKind};

use super::inputs::{DEEPEST, Ignored, MOST_BYTES, MOST_FILES, mode, too_deep, too_much};
use super::instructions::Sources;

/// Mode bits that every copied directory has, so that we can fill and remove it.
const OURS: u32 = 0o700;

/// Copies what a build reads of `root`, except for what is ignored, into the empty directory `into`. Pipes, sockets
/// and devices are left out. Not recursive: a command decides how deep the tree is.
pub(super) fn copy(root: &Dir, sources: &Sources, ignored: &Ignored, into: &Dir) -> io::Result<()> {
    let mut copying =
        Copying { root, ignored, into, files: 0, bytes: 0, waiting: Vec::new(), directories: Vec::new() };
    match plain_paths(root, sources) {
        Some(paths) => paths.iter().try_for_each(|path| copying.add_named(path))?,
        None => copying.waiting.push(PathBuf::new()),
    }
    while let Some(directory) = copying.waiting.pop() {
        copying.add_contents(&directory)?;
    }
    copying.set_times()
}

/// The named paths, if a build reads only those; `None` if a link is on the way: the builder decides where it
/// leads.
fn plain_paths(root: &Dir, sources: &Sources) -> Option<Vec<PathBuf>> {
    let Sources::Some(paths) = sources else { return None };
    let mut plain: Vec<PathBuf> = Vec::new();
    for path in paths.iter().map(PathBuf::from) {
        match root.metadata(&path) {
            Ok(found) if FileKind::of(&found) == FileKind::Link => return None,
            // Sorted, so that a directory comes before its contents.
            Ok(_) if plain.iter().any(|above| path.starts_with(above)) => {}
            Ok(_) => plain.push(path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(_) => return None,
        }
    }
    Some(plain)
}

struct Copying<'a> {
    root: &'a Dir,
    ignored: &'a Ignored,
    into: &'a Dir,
    files: usize,
    bytes: u64,
    /// Directories that exist and are still empty.
    waiting: Vec<PathBuf>,
    /// All created directories, with the times they shall get.
    directories: Vec<(PathBuf, SystemTime)>,
}

impl Copying<'_> {
    /// Copies a path, with its parent directories.
    fn add_named(&mut self, path: &Path) -> io::Result<()> {
        let mut above: Vec<&Path> = path.ancestors().skip(1).collect();
        above.retain(|directory| {
            !directory.as_os_str().is_empty() && self.directories.iter().all(|(made, _)| made != directory)
        });
        above.iter().rev().try_for_each(|directory| self.add_directory(directory))?;
        self.add(path, FileKind::of(&self.root.metadata(path)?))
    }

    fn add_contents(&mut self, directory: &Path) -> io::Result<()> {
        if directory.iter().count() > DEEPEST {
            return Err(too_deep(directory));
        }
        let opened = if directory.as_os_str().is_empty() { None } else { Some(self.root.dir(directory)?) };
        let entries = opened.as_ref().unwrap_or(self.root).entries(MOST_FILES)?;
        self.files += entries.len();
        for entry in entries {
            let path = directory.join(&entry.name);
            if !self.ignored.leaves_out(&path.to_string_lossy(), &entry.name.to_string_lossy()) {
                self.add(&path, entry.kind)?;
            }
        }
        if self.files >= MOST_FILES || self.bytes >= MOST_BYTES {
            return Err(too_much());
        }
        Ok(())
    }

    fn add(&mut self, path: &Path, kind: FileKind) -> io::Result<()> {
        match kind {
            FileKind::Directory => {
                self.add_directory(path)?;
                self.waiting.push(path.to_owned());
            }
            FileKind::Link => {
                self.into.make_link(path, &self.root.link_target(path)?)?;
                self.into.set_modified(path, self.root.metadata(path)?.modified()?)?;
            }
            FileKind::File => self.bytes += copy_file(self.root, self.into, path, MOST_BYTES - self.bytes)?,
            FileKind::Special => {}
        }
        Ok(())
    }

    fn add_directory(&mut self, path: &Path) -> io::Result<()> {
        let found = self.root.metadata(path)?;
        self.into.make_dir(path, mode(&found) | OURS)?;
        self.directories.push((path.to_owned(), found.modified()?));
        Ok(())
    }

    /// Builders treat files as equal only if their times are. Filling a directory has changed its time.
    fn set_times(&self) -> io::Result<()> {
        self.directories.iter().rev().try_for_each(|(path, time)| self.into.set_modified(path, *time))
    }
}

/// Copies at most `most` bytes and returns how many.
fn copy_file(root: &Dir, into: &Dir, path: &Path, most: u64) -> io::Result<u64> {
    let file = root.file(path)?;
    let found = file.metadata()?;
    if found.len() > most {
        return Err(too_much());
    }
    let mut copy = into.create_file(path, 0o600)?;
    let length = io::copy(&mut io::Read::take(file, most), &mut copy)?;
    set_mode(&copy, mode(&found))?;
    copy.set_modified(found.modified()?)?;
    Ok(length)
}

/// Sets the mode regardless of the umask.
#[cfg(unix)]
fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_: &File, _: u32) -> io::Result<()> {
    Ok(())
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
        copy(&open(&project), &Sources::All, &Ignored::of("target"), &open(&copied)).unwrap();
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

    /// A43: the length a sparse file reports is enough.
    #[test]
    fn too_much_is_not_copied() {
        let (project, copied) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::File::create(project.path().join("huge")).unwrap().set_len(MOST_BYTES + 1).unwrap();
        let open = |dir: &tempfile::TempDir| Dir::open(&dir.path().canonicalize().unwrap()).unwrap();
        copy(&open(&project), &Sources::All, &Ignored::default(), &open(&copied)).unwrap_err();
    }

    /// A43: files that a build does not read do not matter.
    #[test]
    fn of_what_is_named_nothing_else_is_copied() {
        let (project, copied) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let at = |name: &str| project.path().join(name);
        fs::create_dir_all(at("web/deep")).unwrap();
        for name in ["go.mod", "web/package.json", "web/other", "web/deep/file"] {
            fs::write(at(name), name).unwrap();
        }
        fs::File::create(at("huge")).unwrap().set_len(MOST_BYTES + 1).unwrap();
        let open = |dir: &tempfile::TempDir| Dir::open(&dir.path().canonicalize().unwrap()).unwrap();
        let named = |paths: &[&str]| Sources::Some(paths.iter().map(ToString::to_string).collect());
        let sources = named(&["go.mod", "go.sum", "web/deep", "web/deep/file", "web/package.json"]);
        copy(&open(&project), &sources, &Ignored::default(), &open(&copied)).unwrap();
        let there = |name: &str| copied.path().join(name).exists();
        assert!(there("go.mod") && there("web/package.json") && there("web/deep/file"));
        assert!(!there("huge") && !there("web/other") && !there("go.sum"));
        // A link may lead anywhere.
        symlink("go.mod", at("link")).unwrap();
        assert_eq!(plain_paths(&open(&project), &named(&["link"])), None);
    }
}
