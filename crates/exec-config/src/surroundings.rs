//! Where configuration is read from. All input of this crate is here.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use exec_core::Machine;
use exec_files::{Dir, Sharing};

use crate::backend::Backend;

/// The most that is read of a file; real configuration is far shorter.
const MOST: u64 = 256 << 10;

/// A host to read configuration from: [`Here`] is the real one, and tests bring their own.
pub trait HostEnvironment {
    /// The backends that can be named, in order of preference.
    fn backends(&self) -> &'static [Backend];
    /// All variables of the environment.
    fn variables(&self) -> Vec<(OsString, OsString)>;
    /// Reads a regular file; `Links::Refuse` where others may have created a link.
    fn read(&self, path: &Path, links: Links) -> io::Result<Vec<u8>>;
    /// Reads a regular file in a directory that only its user may write.
    fn read_own(&self, path: &Path) -> io::Result<Vec<u8>>;
    /// Whether anything exists at a path, including a dangling link.
    fn exists(&self, path: &Path) -> bool;
    /// A path without links.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;
    /// Whether a directory belongs to us or root, and others may not write in it.
    fn is_ours(&self, directory: &Path) -> bool;
    /// The size of this machine.
    fn machine(&self) -> Machine;
}

/// Whether a file may have other names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// Any links are accepted.
    Follow,
    /// It must not be a symbolic link.
    Refuse,
    /// It must not be a symbolic link, nor have other hard links.
    RefuseHard,
}

/// The real host.
#[derive(Debug, Clone, Copy, Default)]
pub struct Here {
    /// The backends that can be named, in order of preference.
    pub backends: &'static [Backend],
}

impl HostEnvironment for Here {
    fn backends(&self) -> &'static [Backend] {
        self.backends
    }

    fn variables(&self) -> Vec<(OsString, OsString)> {
        std::env::vars_os().collect()
    }

    fn read(&self, path: &Path, links: Links) -> io::Result<Vec<u8>> {
        let file = open(path, links)?;
        if links == Links::RefuseHard && has_other_names(&file.metadata()?) {
            let message = "it has a second name (a hard link), by which a command could change it: put a copy in its place";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        exec_files::read_open(file, MOST)
    }

    fn read_own(&self, path: &Path) -> io::Result<Vec<u8>> {
        let (directory, name) = split(path)?;
        Dir::open_own(directory, Sharing::Readable)?.read(name, MOST)
    }

    fn exists(&self, path: &Path) -> bool {
        path.symlink_metadata().is_ok()
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        path.canonicalize()
    }

    fn is_ours(&self, directory: &Path) -> bool {
        directory.symlink_metadata().is_ok_and(|found| found.is_dir() && only_ours_to_write(&found))
    }

    fn machine(&self) -> Machine {
        Machine::this()
    }
}

/// Opens without blocking: the path may be a pipe that is never written to.
fn open(path: &Path, links: Links) -> io::Result<File> {
    if links == Links::Follow {
        return exec_files::open_named(path);
    }
    let (directory, name) = split(path)?;
    let dir = match links {
        // Project files are looked for only in canonical directories.
        Links::Refuse => Dir::open(directory)?,
        _ => Dir::open(&directory.canonicalize()?)?,
    };
    match dir.metadata(name) {
        Ok(found) if found.is_symlink() => Err(is_a_link()),
        _ => dir.file(name),
    }
}

/// A file's directory and its name.
pub(crate) fn split(path: &Path) -> io::Result<(&Path, &Path)> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    path.file_name()
        .map(|name| (directory, Path::new(name)))
        .ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

#[cfg(unix)]
fn has_other_names(file: &std::fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(file) > 1
}

/// The number of links is unknown on this platform.
#[cfg(not(unix))]
fn has_other_names(_: &std::fs::Metadata) -> bool {
    false
}

/// Group write is accepted: the group is often the user's own.
#[cfg(unix)]
fn only_ours_to_write(directory: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    let owners = [0, rustix::process::geteuid().as_raw()];
    owners.contains(&directory.uid()) && directory.mode() & 0o002 == 0
}

/// The permissions are unknown on this platform.
#[cfg(not(unix))]
fn only_ours_to_write(_: &std::fs::Metadata) -> bool {
    true
}

fn is_a_link() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is a symbolic link, which anybody could have made")
}

#[cfg(test)]
pub(crate) mod sample {
    //! Simulated hosts for tests.

    use std::collections::{BTreeMap, BTreeSet};

    use exec_core::ByteSize;

    use super::*;
    use crate::backend::sample::BACKENDS;

    /// An ordinary user's host, with nothing configured.
    #[derive(Debug, Clone)]
    pub(crate) struct Sample {
        pub(crate) variables: BTreeMap<String, String>,
        pub(crate) files: BTreeMap<PathBuf, String>,
        /// Directories that others may write.
        pub(crate) shared: BTreeSet<PathBuf>,
    }

    impl Default for Sample {
        fn default() -> Self {
            Self {
                variables: BTreeMap::from([("HOME".into(), "/home/user".into())]),
                files: BTreeMap::new(),
                shared: BTreeSet::from(["/tmp".into()]),
            }
        }
    }

    impl Sample {
        pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
            self.variables.insert(name.into(), value.into());
            self
        }

        pub(crate) fn file(mut self, path: &str, text: &str) -> Self {
            self.files.insert(path.into(), text.into());
            self
        }
    }

    impl HostEnvironment for Sample {
        fn backends(&self) -> &'static [Backend] {
            &BACKENDS
        }

        fn variables(&self) -> Vec<(OsString, OsString)> {
            self.variables.iter().map(|(name, value)| (name.into(), value.into())).collect()
        }

        fn read(&self, path: &Path, links: Links) -> io::Result<Vec<u8>> {
            match self.files.get(path).map(String::as_str) {
                None => Err(io::ErrorKind::NotFound.into()),
                Some("unreadable") => Err(io::ErrorKind::PermissionDenied.into()),
                Some("link") if links != Links::Follow => Err(is_a_link()),
                Some(text) => Ok(text.as_bytes().to_owned()),
            }
        }

        fn read_own(&self, path: &Path) -> io::Result<Vec<u8>> {
            self.read(path, Links::Refuse)
        }

        fn exists(&self, path: &Path) -> bool {
            self.files.keys().any(|file| file.starts_with(path))
        }

        fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
            Ok(path.to_owned())
        }

        fn is_ours(&self, directory: &Path) -> bool {
            !self.shared.contains(directory)
        }

        fn machine(&self) -> Machine {
            Machine { cpus: 16, memory: Some(ByteSize::gib(64)) }
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    const HERE: Here = Here { backends: &[] };

    /// A38: nothing an agent can create makes us block, or read a file the agent could not.
    #[test]
    fn pipes_and_links_are_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (file, link, pipe) = (root.join("a"), root.join("b"), root.join("c"));
        std::fs::write(&file, "x").unwrap();
        symlink(&file, &link).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        assert_eq!(HERE.read(&file, Links::Refuse).unwrap(), b"x");
        assert_eq!(HERE.read(&link, Links::Follow).unwrap(), b"x");
        assert!(HERE.read(&link, Links::Refuse).unwrap_err().to_string().contains("symbolic link"));
        assert!(HERE.read(&pipe, Links::Follow).unwrap_err().to_string().contains("not a regular file"));
        assert!(HERE.read(dir.path(), Links::Follow).is_err());
    }

    /// A38
    #[test]
    fn a_directory_that_others_may_write_is_not_ours() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        assert!(HERE.is_ours(dir.path()) && HERE.is_ours(Path::new("/")));
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o1777)).unwrap();
        assert!(!HERE.is_ours(dir.path()));
        assert!(!HERE.is_ours(&dir.path().join("nothing")));
    }

    #[test]
    fn a_file_without_end_is_not_read_to_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap().join("long");
        std::fs::write(&path, vec![b'#'; MOST as usize + 1]).unwrap();
        let error = HERE.read(&path, Links::Refuse).unwrap_err();
        assert_eq!(error.to_string(), "it is longer than 262144 bytes");
    }
}
