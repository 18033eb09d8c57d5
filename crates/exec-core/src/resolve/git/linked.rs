//! From the pointer of a linked worktree to its repository, if it is one.
//!
//! A command may have written the pointer, to be given in its next run what it names. So it is followed only to a
//! repository that knows this worktree: that says so in files a command can't write.

use std::fs;
use std::path::{Path, PathBuf};

use super::files;
use crate::DangerousMounts;
use crate::resolve::{danger, os};

/// Where a linked worktree's repository is.
pub(super) struct Linked {
    /// The repository, canonical.
    pub(super) common: PathBuf,
    /// The directory in it that is this worktree's own.
    pub(super) admin: PathBuf,
}

/// The repository that a workspace's pointer leads to and that leads back.
pub(super) fn find(workspace: &Path, dangerous: DangerousMounts) -> Option<Linked> {
    let pointer = workspace.join(".git");
    let admin = named_in(&pointer, b"gitdir: ", workspace)?;
    let worktrees = admin.parent().filter(|above| above.ends_with("worktrees"))?;
    let common = worktrees.parent()?;
    let names =
        |file: &str, path: &Path| named_in(&admin.join(file), b"", &admin).is_some_and(|named| named == path);
    let owner = os::owner(workspace).ok()?.0;
    let holds = names("gitdir", &pointer)
        && names("commondir", common)
        && is_repository(common)
        && [common, worktrees, &admin].iter().all(|path| os::owner(path).is_ok_and(|(uid, _)| uid == owner))
        // A worktree within its repository: mounting that would show the others' files too.
        && !workspace.starts_with(common)
        && danger::check(common, dangerous, "repository").is_ok();
    holds.then(|| Linked { common: common.to_owned(), admin: admin.clone() })
}

/// Where a path leads that stands in a file, by itself or behind a word; a relative one begins at `base`.
fn named_in(file: &Path, word: &[u8], base: &Path) -> Option<PathBuf> {
    let contents = files::read_small(file).ok()?;
    let mut path = contents.strip_prefix(word)?;
    while let [rest @ .., b'\n' | b'\r'] = path {
        path = rest;
    }
    base.join(files::path(path)).canonicalize().ok()
}

/// What git itself asks for. Repositories that are put together from links to others are none to us.
fn is_repository(path: &Path) -> bool {
    let is = |name: &str, fits: fn(&fs::Metadata) -> bool| {
        fs::symlink_metadata(path.join(name)).is_ok_and(|found| fits(&found))
    };
    is("HEAD", fs::Metadata::is_file)
        && is("objects", fs::Metadata::is_dir)
        && is("refs", fs::Metadata::is_dir)
}
