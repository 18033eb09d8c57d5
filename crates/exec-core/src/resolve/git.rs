//! What the host's git would execute later must not be written by a command now.
//!
//! Git runs hooks and reads commands (`core.fsmonitor`, filters, aliases) from the repository's configuration,
//! whoever calls it. So in a writable workspace the configuration and the hooks stay as they are. `commondir` is
//! one of them: a file of that name makes git read both from elsewhere. And `.git` itself becomes a mount, so that it
//! can't be moved away and replaced.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use super::{PlannedMount, os};
use crate::{Access, Result};

/// Read-only where it is there.
const CONFIGURATION: [&str; 2] = ["config", "config.worktree"];

/// Means the same to git as no such file.
const OWN_DIRECTORY: &[u8] = b".\n";

/// The mounts that keep a workspace's repository from being turned against the host.
pub(super) fn protect(workspace: &Path) -> Result<Vec<PlannedMount>> {
    let git = workspace.join(".git");
    match fs::symlink_metadata(&git) {
        // The pointer of a linked worktree, to wherever its repository is.
        Ok(metadata) if metadata.is_file() => Ok(vec![at_own_path(&git, Access::ReadOnly)?]),
        Ok(metadata) if metadata.is_dir() => protect_repository(&git),
        _ => Ok(Vec::new()),
    }
}

fn protect_repository(git: &Path) -> Result<Vec<PlannedMount>> {
    let mut mounts = vec![at_own_path(git, Access::ReadWrite)?];
    for name in CONFIGURATION {
        let path = git.join(name);
        if path.is_file() {
            mounts.push(at_own_path(&path, Access::ReadOnly)?);
        }
    }
    // What could be made inside because it is not there yet is made here first. Where that is impossible it is
    // impossible inside, too.
    let hooks = git.join("hooks");
    if make(&hooks, git, |path| fs::create_dir(path)) {
        mounts.push(at_own_path(&hooks, Access::ReadOnly)?);
    }
    let common = git.join("commondir");
    if make(&common, git, write_own_directory) {
        mounts.push(at_own_path(&common, Access::ReadOnly)?);
    }
    Ok(mounts)
}

/// Whether it is there, after trying to make it.
fn make(path: &Path, git: &Path, create: impl Fn(&Path) -> io::Result<()>) -> bool {
    match create(path) {
        Ok(()) => os::same_owner(path, git).is_ok(),
        Err(error) => error.kind() == io::ErrorKind::AlreadyExists,
    }
}

fn write_own_directory(path: &Path) -> io::Result<()> {
    fs::OpenOptions::new().write(true).create_new(true).open(path)?.write_all(OWN_DIRECTORY)
}

fn at_own_path(path: &Path, access: Access) -> Result<PlannedMount> {
    Ok(PlannedMount { source: path.to_owned(), target: path.to_owned(), access, id: os::file_id(path)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(workspace: &Path) -> Vec<(String, Access)> {
        let relative = |mount: PlannedMount| {
            (mount.source.strip_prefix(workspace).unwrap().display().to_string(), mount.access)
        };
        protect(workspace).unwrap().into_iter().map(relative).collect()
    }

    /// A13
    #[test]
    fn a_repository_keeps_its_configuration_and_hooks() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(planned(dir.path()), []);
        fs::create_dir(dir.path().join(".git")).unwrap();
        fs::write(dir.path().join(".git/config"), "").unwrap();
        let expected = [
            (".git", Access::ReadWrite),
            (".git/config", Access::ReadOnly),
            (".git/hooks", Access::ReadOnly),
            (".git/commondir", Access::ReadOnly),
        ];
        assert_eq!(planned(dir.path()), expected.map(|(path, access)| (path.to_owned(), access)));
        assert_eq!(planned(dir.path()).len(), 4, "the second time, too");
        assert_eq!(fs::read(dir.path().join(".git/commondir")).unwrap(), OWN_DIRECTORY);
    }

    #[test]
    fn a_linked_worktree_keeps_its_pointer() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(".git"), "gitdir: /elsewhere").unwrap();
        assert_eq!(planned(dir.path()), [(".git".to_owned(), Access::ReadOnly)]);
    }
}
