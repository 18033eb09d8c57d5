//! What git takes orders from: which files of its directories a command must leave as they are.

use std::io::{self, ErrorKind};
use std::path::Path;

use exec_files::{Dir, FileKind};

use super::mount;
use crate::Access;
use crate::resolve::{PlannedMount, os};

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

/// Read-only mounts for all of these, in the repository directory `git`.
///
/// `None` if one of them can't be kept by a mount: a link can be replaced whatever is mounted where it leads, and what the
/// directory's mode keeps us from making can be made inside, by a command that changes the mode first.
pub(super) fn keep(git: &Path, orders: &[Order]) -> Option<Vec<PlannedMount>> {
    let dir = Dir::open(git).ok()?;
    let kept: io::Result<Vec<_>> = orders.iter().map(|order| order.settle(&dir, git)).collect();
    kept.ok().map(|mounts| mounts.into_iter().flatten().collect())
}

impl Order {
    /// Looks at it, after making it where it is missing. `None` where there is nothing to keep.
    fn settle(&self, dir: &Dir, git: &Path) -> io::Result<Option<PlannedMount>> {
        let found = match dir.metadata(self.name) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if !self.make(dir)? {
                    return Ok(None);
                }
                dir.metadata(self.name)?
            }
            found => found?,
        };
        let fits = match (&self.missing, FileKind::of(&found)) {
            (Missing::Directory, kind) => kind == FileKind::Directory,
            // By another name it could be changed all the same.
            (Missing::File(_), kind) => kind == FileKind::File && !os::has_other_names(&found),
            (Missing::Nothing, kind) => kind != FileKind::Link,
        };
        if fits {
            Ok(Some(mount(git.join(self.name), &found, Access::ReadOnly)))
        } else {
            Err(ErrorKind::InvalidData.into())
        }
    }

    /// Whether it is there afterwards.
    fn make(&self, dir: &Dir) -> io::Result<bool> {
        let made = match self.missing {
            Missing::Directory => dir.make_dir(self.name, 0o755),
            Missing::File(contents) => dir.create(self.name, 0o644, contents),
            Missing::Nothing => return Ok(false),
        };
        match made {
            // Another run begins at the same time.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(true),
            made => made.map(|()| true),
        }
    }
}
