//! Repositories made by hand, for tests.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use tempfile::TempDir;

use super::plan;
use crate::Access;
use crate::resolve::PlannedMount;

/// A directory that holds everything of one test, by its canonical path.
pub(in crate::resolve) struct Place {
    _dir: TempDir,
    pub(in crate::resolve) path: PathBuf,
}

impl Place {
    pub(in crate::resolve) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap();
        Self { _dir: dir, path }
    }

    pub(in crate::resolve) fn file(&self, name: &str, contents: &str) {
        let path = self.path.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }

    pub(in crate::resolve) fn link(&self, name: &str, to: &str) {
        symlink(to, self.path.join(name)).unwrap();
    }

    pub(in crate::resolve) fn repository(&self, git: &str) {
        self.file(&format!("{git}/HEAD"), "ref: refs/heads/main\n");
        self.file(&format!("{git}/config"), "");
        for name in ["objects", "refs", "worktrees"] {
            fs::create_dir_all(self.path.join(git).join(name)).unwrap();
        }
    }

    /// The mounts for a workspace in it, as `path` or `path (ro)`.
    pub(in crate::resolve) fn planned(&self, workspace: &str, access: Access) -> Vec<String> {
        let shown = |mount: PlannedMount| {
            assert_eq!(mount.source, mount.target);
            let path = mount.source.strip_prefix(&self.path).unwrap().display().to_string();
            if mount.access == Access::ReadOnly { format!("{path} (ro)") } else { path }
        };
        plan(&self.path.join(workspace), access).into_iter().map(shown).collect()
    }
}
