//! Repositories made by hand, for tests.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use exec_files::OwnPlaces;
use tempfile::TempDir;

use super::plan;
use crate::resolve::Fence;
use crate::{Access, DangerousMounts};

/// The directory of one test, by its canonical path.
pub(in crate::resolve) struct Place {
    _dir: TempDir,
    pub(in crate::resolve) path: PathBuf,
}

impl Place {
    pub(in crate::resolve) fn new() -> Self {
        Self::below(&std::env::temp_dir())
    }

    pub(in crate::resolve) fn below(place: &Path) -> Self {
        let dir = tempfile::tempdir_in(place).unwrap();
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

    /// Creates a worktree `own` of `main/.git`, as git does.
    pub(in crate::resolve) fn worktree(&self) {
        self.repository("main/.git");
        let path = self.path.display();
        self.file("own/.git", &format!("gitdir: {path}/main/.git/worktrees/own\n"));
        self.file("main/.git/worktrees/own/HEAD", "ref: refs/heads/own\n");
        self.file("main/.git/worktrees/own/commondir", "../..\n");
        self.file("main/.git/worktrees/own/gitdir", &format!("{path}/own/.git\n"));
    }

    /// The fences of a workspace in it.
    pub(in crate::resolve) fn fences(&self, workspace: &str, access: Access) -> Vec<Fence> {
        let own = OwnPlaces::default();
        plan(&self.path.join(workspace), access, DangerousMounts::Refuse, &own).unwrap()
    }

    /// The same fences as `path` or `path (ro)`.
    pub(in crate::resolve) fn planned(&self, workspace: &str, access: Access) -> Vec<String> {
        let shown = |fence: Fence| {
            assert_eq!(fence.source(), fence.target());
            let path = fence.source().strip_prefix(&self.path).unwrap().display().to_string();
            if fence.access() == Access::ReadOnly { format!("{path} (ro)") } else { path }
        };
        self.fences(workspace, access).into_iter().map(shown).collect()
    }
}
