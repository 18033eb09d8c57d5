//! Git inside, without what the host's git would execute later.
//!
//! Git runs hooks and reads commands (`core.fsmonitor`, filters, aliases) from the repository, whoever calls it. So
//! where a command may write a repository, what git takes orders from stays as it is. And `.git` itself becomes a
//! mount, so that it can't be moved away and replaced.

mod files;
mod orders;

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use super::{PlannedMount, os};
use crate::Access;

/// The mounts of a workspace's repository, to go on top of the workspace and of everything else.
pub(super) fn plan(workspace: &Path, access: Access) -> Vec<PlannedMount> {
    let git = workspace.join(".git");
    let Ok(found) = fs::symlink_metadata(&git) else { return Vec::new() };
    match access {
        Access::ReadWrite if found.is_dir() => repository(&git, &found),
        // The pointer of a linked worktree, to wherever its repository is.
        Access::ReadWrite if found.is_file() => vec![mount(git, &found, Access::ReadOnly)],
        _ => Vec::new(),
    }
}

fn repository(git: &Path, found: &Metadata) -> Vec<PlannedMount> {
    let Some(kept) = orders::keep(git, &orders::OF_REPOSITORY) else {
        return vec![mount(git.to_owned(), found, Access::ReadOnly)];
    };
    let mut mounts = vec![mount(git.to_owned(), found, Access::ReadWrite)];
    mounts.extend(kept);
    mounts
}

fn mount(path: PathBuf, found: &Metadata, access: Access) -> PlannedMount {
    PlannedMount { source: path.clone(), target: path, access, id: os::id(found) }
}

#[cfg(test)]
pub(super) mod place;
#[cfg(test)]
mod tests;
