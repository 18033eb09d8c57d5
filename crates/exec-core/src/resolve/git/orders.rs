//! What git takes orders from: which files of its directories a command must leave as they are.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use super::{files, mount};
use crate::Access;
use crate::resolve::PlannedMount;

/// A file or directory that stays as it is.
pub(super) struct Order {
    name: &'static str,
    missing: Missing,
}

/// What is done where there is none. Left alone, it could be made inside.
pub(super) enum Missing {
    /// An empty directory is made.
    Directory,
    /// A file is made that means the same to git as none.
    File(&'static [u8]),
    /// Nothing: a command gains nothing by making it.
    Nothing,
}

const fn order(name: &'static str, missing: Missing) -> Order {
    Order { name, missing }
}

/// Of any repository:
/// - `config` and `config.worktree` name programs;
/// - `commondir` makes git read everything else from elsewhere, hooks and configuration first;
/// - `hooks` are programs;
/// - `info` holds attributes, which choose among the configured programs, and excludes, which hide files, for all
///   worktrees at once;
/// - `worktrees` has for each linked worktree a `commondir` and a `config.worktree`.
pub(super) const OF_REPOSITORY: [Order; 6] = [
    order("config", Missing::File(b"")),
    order("config.worktree", Missing::File(b"")),
    order("commondir", Missing::File(b".\n")),
    order("hooks", Missing::Directory),
    order("info", Missing::Directory),
    order("worktrees", Missing::Directory),
];

/// Of the main worktree, seen from a linked one: the repositories of its submodules, where `git status` runs git. In a
/// workspace of its own this would be in vain, because there a submodule's pointer can be replaced.
pub(super) const OF_MAIN_WORKTREE: [Order; 1] = [order("modules", Missing::Nothing)];

/// Of the directory a linked worktree has in its repository. The first two are there, or we would not be.
pub(super) const OF_WORKTREE: [Order; 3] = [
    order("commondir", Missing::Nothing),
    order("gitdir", Missing::Nothing),
    order("config.worktree", Missing::File(b"")),
];

/// Read-only mounts for all of these. `None` if one of them can't be kept by a mount: a link can be replaced whatever
/// is mounted where it leads.
pub(super) fn keep(git: &Path, orders: &[Order]) -> Option<Vec<PlannedMount>> {
    let mut mounts = Vec::new();
    for order in orders {
        match order.settle(git) {
            Ok(kept) => mounts.push(kept),
            Err(error) => match error.kind() {
                // What we can't make can't be made inside either.
                ErrorKind::NotFound | ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {}
                _ => return None,
            },
        }
    }
    Some(mounts)
}

impl Order {
    /// Looks at it, after making it where it is missing.
    fn settle(&self, git: &Path) -> io::Result<PlannedMount> {
        let path = git.join(self.name);
        let found = match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.make(git)?;
                fs::symlink_metadata(&path)?
            }
            found => found?,
        };
        let fits = match self.missing {
            Missing::Directory => found.is_dir(),
            Missing::File(_) => found.is_file(),
            Missing::Nothing => !found.is_symlink(),
        };
        if fits { Ok(mount(path, &found, Access::ReadOnly)) } else { Err(ErrorKind::InvalidData.into()) }
    }

    fn make(&self, git: &Path) -> io::Result<()> {
        let made = match self.missing {
            Missing::Directory => files::make_directory(git, self.name),
            Missing::File(contents) => files::make_file(git, self.name, contents),
            Missing::Nothing => return Err(ErrorKind::NotFound.into()),
        };
        match made {
            // Another run begins at the same time.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            made => made,
        }
    }
}
