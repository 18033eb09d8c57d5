//! Follows the pointer of a linked worktree to its repository.
//!
//! A command may have written the pointer so that its next run gets the place it names. So it is followed only to a
//! repository that names this worktree in files no command could write, and only if the pointer existed before the
//! first command: a repository still names a worktree that its user removed by hand, and another directory may have
//! that path since.

use std::path::{Path, PathBuf};

use exec_files::{Dir, FileKind, OwnPlaces};

use crate::resolve::{danger, first_sight, invalid, os, reach};
use crate::{DangerousMounts, Result};

/// Longer than any path.
const LONGEST: u64 = 8192;

/// The repository of a linked worktree.
pub(super) struct Linked {
    /// The repository, canonical.
    pub(super) common: PathBuf,
    /// This worktree's own directory in it.
    pub(super) admin: PathBuf,
}

/// Finds the repository that a workspace's pointer leads to and that leads back.
///
/// # Errors
///
/// Fails if the two lead to each other, but a command could have written either side.
pub(super) fn find(workspace: &Path, dangerous: DangerousMounts, own: &OwnPlaces) -> Result<Option<Linked>> {
    let Some(linked) = answered(workspace) else { return Ok(None) };
    let is_given = danger::check(&linked.common, dangerous, "repository")
        .and_then(|()| reach::check(&linked.common, own, dangerous, "repository"));
    if is_given.is_err() {
        return Ok(None);
    }
    if let Some(note) = first_sight::new_pointer(workspace, &linked.common) {
        return Err(invalid(format!(
            "`{}` could be a command's work: it was not there before commands could write here",
            workspace.join(".git").display()
        ))
        .with_context("repository", linked.common.display())
        .with_remedy(format!(
            "see that your own git made it a worktree of that repository; if so, remove `{}`",
            note.display()
        )));
    }
    match first_sight::forgeable(&linked.common, &linked.admin) {
        None => Ok(Some(linked)),
        Some(note) => Err(invalid(format!(
            "the workspace's repository `{}` could be a command's work: earlier commands could write there",
            linked.common.display()
        ))
        .with_context("workspace", workspace.display())
        .with_remedy(format!(
            "see that its `worktrees` are those that your own git made; if they are, remove `{}`",
            note.display()
        ))),
    }
}

/// The target of a workspace's pointer.
pub(super) fn pointed_at(workspace: &Path) -> Option<PathBuf> {
    named_in(&Dir::open(workspace).ok()?, ".git", b"gitdir: ", workspace)
}

/// The repository of the pointer, if each names the other and both have the same owner.
pub(super) fn answered(workspace: &Path) -> Option<Linked> {
    let admin = pointed_at(workspace)?;
    let worktrees = admin.parent().filter(|above| above.ends_with("worktrees"))?.to_owned();
    let common = worktrees.parent()?.to_owned();
    let inside = Dir::open(&admin).ok()?;
    let names =
        |file: &str, path: &Path| named_in(&inside, file, b"", &admin).is_some_and(|named| named == path);
    let owner = os::owner(workspace).ok()?.0;
    let holds = names("gitdir", &workspace.join(".git"))
        && names("commondir", &common)
        && is_repository(&common)
        && [&common, &worktrees, &admin].iter().all(|path| os::owner(path).is_ok_and(|(uid, _)| uid == owner))
        // A worktree within its repository: a mount of the repository would show the other worktrees' files too.
        && !workspace.starts_with(&common);
    holds.then_some(Linked { common, admin })
}

/// The target of a path in a file, which may follow a word; a relative path starts at `base`.
fn named_in(dir: &Dir, file: &str, word: &[u8], base: &Path) -> Option<PathBuf> {
    let contents = dir.read(file, LONGEST).ok()?;
    let mut path = contents.strip_prefix(word)?;
    while let [rest @ .., b'\n' | b'\r'] = path {
        path = rest;
    }
    base.join(os::path(path)).canonicalize().ok()
}

/// Git's own criteria. Repositories assembled from links to others do not count.
fn is_repository(path: &Path) -> bool {
    let Ok(dir) = Dir::open(path) else { return false };
    let is = |name: &str, kind| dir.metadata(name).is_ok_and(|found| FileKind::of(&found) == kind);
    is("HEAD", FileKind::File) && is("objects", FileKind::Directory) && is("refs", FileKind::Directory)
}
