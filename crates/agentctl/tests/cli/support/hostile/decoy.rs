//! A home directory that `agentctl` must not touch, and everything in it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// The state of an entry: its kind and mode, its size, its modification time and its contents.
type Seen = (u32, u64, i64, i64, Vec<u8>);

/// The directory, and its original contents.
#[derive(Debug)]
pub(crate) struct Decoy {
    dir: TempDir,
    before: BTreeMap<PathBuf, Seen>,
}

impl Decoy {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path();
        for directory in [".ssh", "state/cells", "state/runs", "project/.git/hooks"] {
            fs::create_dir_all(home.join(directory)).unwrap();
        }
        for file in [".ssh/id", "state/cells/agentctl-1-1", "project/.git/config", "audit.jsonl"] {
            fs::write(home.join(file), "precious").unwrap();
        }
        let before = look(home);
        Self { dir, before }
    }

    pub(crate) fn home(&self) -> &Path {
        self.dir.path()
    }

    /// An existing file.
    pub(crate) fn file(&self) -> PathBuf {
        self.home().join(".ssh/id")
    }

    /// A free name, apart from a number.
    pub(crate) fn new_file(&self) -> PathBuf {
        self.home().join("new")
    }

    /// An existing directory.
    pub(crate) fn directory(&self) -> PathBuf {
        self.home().join("project")
    }

    pub(crate) fn assert_unchanged(&self, args: &[&str]) {
        let after = look(self.home());
        let changed: Vec<_> = self
            .before
            .keys()
            .chain(after.keys())
            .filter(|path| self.before.get(*path) != after.get(*path))
            .collect();
        assert!(changed.is_empty(), "{args:?} changed {changed:?}");
    }
}

fn look(directory: &Path) -> BTreeMap<PathBuf, Seen> {
    let mut seen = BTreeMap::new();
    let mut waiting = vec![directory.to_owned()];
    while let Some(path) = waiting.pop() {
        let found = fs::symlink_metadata(&path).unwrap();
        let contents = if found.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        if found.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        seen.insert(path, (found.mode(), found.size(), found.mtime(), found.mtime_nsec(), contents));
    }
    seen
}
