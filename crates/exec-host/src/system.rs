//! The system's own directories.

use std::fs;
use std::path::{Path, PathBuf};

/// One top-level entry.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SystemEntry {
    /// A directory, shown as it is.
    Directory(PathBuf),
    /// A link, shown as a link.
    Link {
        /// The path of the link.
        path: PathBuf,
        /// The target of the link.
        to: PathBuf,
        /// The directory it leads to, if that is visible too. Where every lookup of a link is expensive,
        /// mount this instead.
        directory: Option<PathBuf>,
    },
}

impl SystemEntry {
    /// The path of the entry.
    pub fn path(&self) -> &Path {
        match self {
            Self::Directory(path) | Self::Link { path, .. } => path,
        }
    }

    fn is_directory(&self) -> bool {
        matches!(self, Self::Directory(_))
    }
}

/// Where systems keep programs, libraries and their configuration. Everything else in the root directory is
/// data and stays hidden: a list of what may be seen can be short, a list of what must not never is.
const DIRECTORIES: [&str; 11] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu"];

/// The entries that exist on this host.
pub(crate) fn entries() -> Vec<SystemEntry> {
    let mut entries: Vec<_> = DIRECTORIES.iter().filter_map(|path| entry(Path::new(path))).collect();
    let shown: Vec<PathBuf> =
        entries.iter().filter(|entry| entry.is_directory()).map(|entry| entry.path().into()).collect();
    for entry in &mut entries {
        if let SystemEntry::Link { directory, .. } = entry {
            // A link must not reveal a directory that is hidden otherwise.
            directory.take_if(|directory| !shown.iter().any(|shown| directory.starts_with(shown)));
        }
    }
    entries
}

fn entry(path: &Path) -> Option<SystemEntry> {
    let metadata = fs::symlink_metadata(path).ok()?;
    if metadata.is_symlink() {
        let directory = fs::canonicalize(path).ok().filter(|path| path.is_dir());
        return fs::read_link(path).ok().map(|to| SystemEntry::Link { path: path.into(), to, directory });
    }
    metadata.is_dir().then(|| SystemEntry::Directory(path.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_is_shown_and_data_is_not() {
        let entries = entries();
        let paths: Vec<&Path> = entries.iter().map(SystemEntry::path).collect();
        assert!(paths.contains(&Path::new("/usr")) && paths.contains(&Path::new("/etc")));
        for data in ["/home", "/root", "/var", "/srv", "/tmp", "/run", "/boot", "/mnt"] {
            assert!(!paths.contains(&Path::new(data)), "{data}");
        }
    }

    #[test]
    fn a_link_leads_only_to_visible_directories() {
        let entries = entries();
        let shows =
            |path: &Path| entries.iter().any(|entry| entry.is_directory() && path.starts_with(entry.path()));
        for entry in &entries {
            if let SystemEntry::Link { path, directory: Some(directory), .. } = entry {
                assert_eq!(fs::canonicalize(path).unwrap(), *directory);
                assert!(shows(directory), "{}", directory.display());
            }
        }
    }
}
