//! The files git takes orders from, which a command must not change.

use std::io::{self, ErrorKind};
use std::path::Path;

use exec_files::{Dir, FileKind};

use super::mount;
use crate::Access;
use crate::resolve::fence::{Blank, Fence, MissingEntry};
use crate::resolve::os;

/// A file or directory that stays unchanged.
pub(super) struct Order {
    name: &'static str,
    /// What to create if it is missing; `None` if a command gains nothing by creating it.
    blank: Option<Blank>,
}

const fn order(name: &'static str, blank: Option<Blank>) -> Order {
    Order { name, blank }
}

/// In any repository:
/// - `config` and `config.worktree` name programs;
/// - `commondir` makes git read everything else from elsewhere, hooks and configuration first;
/// - `hooks` are programs;
/// - `info` holds attributes, which choose among the configured programs, and excludes, which hide files, for all
///   worktrees at once;
/// - `worktrees` has for each linked worktree a `commondir` and a `config.worktree`.
pub(super) const OF_REPOSITORY: [Order; 6] = [
    order("config", Some(Blank::File(b""))),
    order("config.worktree", Some(Blank::File(b""))),
    order("commondir", Some(Blank::File(b".\n"))),
    order("hooks", Some(Blank::Directory)),
    order("info", Some(Blank::Directory)),
    order("worktrees", Some(Blank::Directory)),
];

/// In the main worktree's repository, seen from a linked worktree: the repositories of its submodules, where
/// `git status` runs git. In the main workspace this would not help: a submodule's pointer can be replaced there.
pub(super) const OF_MAIN_WORKTREE: [Order; 1] = [order("modules", None)];

/// In a linked worktree's directory in its repository. The first two exist, or the worktree would not be linked.
pub(super) const OF_WORKTREE: [Order; 3] =
    [order("commondir", None), order("gitdir", None), order("config.worktree", Some(Blank::File(b"")))];

/// Read-only mounts for all of these in the repository directory `git`.
///
/// `None` if a mount can't keep one of them: a link can be replaced whatever is mounted at its target, and an entry that
/// the directory's mode keeps us from creating can be created inside, by a command that first changes the mode.
pub(super) fn keep(git: &Path, orders: &[Order]) -> Option<Vec<Fence>> {
    let dir = Dir::open(git).ok()?;
    let kept: io::Result<Vec<_>> = orders.iter().map(|order| order.keep(&dir, git)).collect();
    kept.ok().map(|fences| fences.into_iter().flatten().collect())
}

impl Order {
    /// The mount over it; `None` if there is nothing to keep.
    fn keep(&self, dir: &Dir, git: &Path) -> io::Result<Option<Fence>> {
        let source = git.join(self.name);
        let found = match (dir.metadata(self.name), self.blank) {
            (Err(error), Some(blank)) if error.kind() == ErrorKind::NotFound => {
                if !dir.is_writable() {
                    return Err(ErrorKind::PermissionDenied.into());
                }
                let directory = os::id(&dir.own_metadata()?);
                let target = source.clone();
                return Ok(Some(Fence::Missing(MissingEntry { source, target, blank, directory })));
            }
            (Err(error), None) if error.kind() == ErrorKind::NotFound => return Ok(None),
            (found, _) => found?,
        };
        let fits = match self.blank {
            Some(blank) => blank.fits(&found),
            None => FileKind::of(&found) != FileKind::Link,
        };
        if fits {
            Ok(Some(Fence::Found(mount(source, &found, Access::ReadOnly))))
        } else {
            Err(ErrorKind::InvalidData.into())
        }
    }
}
