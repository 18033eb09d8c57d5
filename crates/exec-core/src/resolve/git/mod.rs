//! Git inside a cell, without giving commands control over the host's git.
//!
//! Git runs hooks and reads commands (`core.fsmonitor`, filters, aliases) from the repository, whichever user calls it.
//! So in a writable repository the files git takes orders from stay unchanged. And `.git` itself becomes a mount, so
//! that it can't be moved away and replaced.
//!
//! A linked worktree has only a pointer at `.git`; its repository is mounted too, at its own path, without the working
//! tree it belongs to.

mod linked;
mod orders;

use std::fs::Metadata;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use exec_files::{Dir, FileKind, OwnPlaces};

use super::{Fence, PlannedMount, invalid, os};
use crate::{Access, DangerousMounts, Result};
use linked::Linked;

/// Where every worktree of a repository writes. The repository's own directory must be writable too, because git
/// creates its lock files there. Without mounts that would open the rest as well, so only these are opened.
const SHARED: [&str; 6] = ["objects", "refs", "logs", "reftable", "rr-cache", "lfs"];

/// Plans the mounts of a workspace's repository, which go on top of the workspace and everything else.
///
/// # Errors
///
/// Fails if nothing can keep the repository unchanged: its `.git` is a link, or can't be inspected.
pub(super) fn plan(
    workspace: &Path,
    access: Access,
    dangerous: DangerousMounts,
    own: &OwnPlaces,
) -> Result<Vec<Fence>> {
    let git = workspace.join(".git");
    let found = match Dir::open(workspace).and_then(|dir| dir.metadata(".git")) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(_) if access == Access::ReadOnly => return Ok(Vec::new()),
        found => found.map_err(|error| unkept(workspace, "can't be looked at").with_source(error))?,
    };
    Ok(match (access, FileKind::of(&found)) {
        (Access::ReadWrite, FileKind::Directory) => repository(&git, &found),
        (Access::ReadWrite, FileKind::File) => {
            let mut fences = vec![Fence::Found(mount(git, &found, Access::ReadOnly))];
            fences.extend(linked::find(workspace, dangerous, own)?.iter().flat_map(worktree));
            fences.extend(separate(workspace));
            fences
        }
        // No mount prevents a link from being replaced by a repository with its own orders.
        (Access::ReadWrite, FileKind::Link) => return Err(unkept(workspace, "is a link")),
        // Read-only as part of the workspace; only the parts elsewhere are missing.
        (Access::ReadOnly, FileKind::File) => linked::find(workspace, dangerous, own)?
            .filter(|linked| !linked.common.starts_with(workspace))
            .and_then(|linked| there(linked.common, Access::ReadOnly))
            .into_iter()
            .collect(),
        _ => Vec::new(),
    })
}

/// The mounts that keep the repository of another writable directory unchanged, with that directory at `target`. Its
/// pointer is not followed.
pub(super) fn fences(source: &Path, target: &Path) -> Result<Vec<Fence>> {
    let found = match Dir::open(source).and_then(|dir| dir.metadata(".git")) {
        // A file contains no repository.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        found => found.map_err(|error| unkept(source, "can't be looked at").with_source(error))?,
    };
    let git = source.join(".git");
    let fences = match FileKind::of(&found) {
        FileKind::Directory => repository(&git, &found),
        FileKind::File => vec![Fence::Found(mount(git, &found, Access::ReadOnly))],
        FileKind::Link => return Err(unkept(source, "is a link")),
        FileKind::Special => Vec::new(),
    };
    let there = |fence: Fence| {
        let inside = fence.source().strip_prefix(source).map(|inside| target.join(inside));
        match inside {
            Ok(target) => fence.at(target),
            Err(_) => fence,
        }
    };
    Ok(fences.into_iter().map(there).collect())
}

/// The repository that a directory is a linked worktree of.
pub(super) fn repository_of(directory: &Path) -> Option<PathBuf> {
    linked::answered(directory).map(|linked| linked.common)
}

/// Refuses a directory that had no fences in the plan but needs some now.
pub(super) fn refuse_new(directory: &Path) -> Result<()> {
    if fences(directory, directory)?.is_empty() {
        return Ok(());
    }
    Err(invalid(format!(
        "`{}` has just appeared, and what the host's git takes orders from is not protected there yet",
        directory.join(".git").display()
    ))
    .with_remedy("try again"))
}

/// A repository inside its own working tree under another name, as created by `git init --separate-git-dir`.
fn separate(workspace: &Path) -> Vec<Fence> {
    let Some(git) =
        linked::pointed_at(workspace).filter(|git| git.starts_with(workspace) && git != workspace)
    else {
        return Vec::new();
    };
    let found = Dir::open(&git).and_then(|dir| dir.own_metadata());
    found.map_or_else(|_| Vec::new(), |found| repository(&git, &found))
}

fn unkept(workspace: &Path, why: &str) -> crate::Error {
    let what = format!(
        "`{}` {why}, so a command could replace what the host's git takes orders from",
        workspace.join(".git").display()
    );
    invalid(what).with_remedy(
        "look at it and make it a directory that you can enter, or mount the workspace read-only",
    )
}

/// Whether a path of the workspace is inside a repository, where any file may hold orders. The workspace's own `.git`
/// as a whole does not count: its critical files are kept, see [`plan`].
pub(super) fn takes_orders_from(
    workspace: &Path,
    path: &Path,
    dangerous: DangerousMounts,
    own: &OwnPlaces,
) -> Result<bool> {
    let inside = path.strip_prefix(workspace).unwrap_or(path);
    if inside == Path::new(".git") {
        return Ok(false);
    }
    let is_git = |part: &std::ffi::OsStr| part.eq_ignore_ascii_case(".git");
    let linked = linked::find(workspace, dangerous, own)?;
    Ok(inside.iter().any(is_git) || linked.is_some_and(|linked| path.starts_with(linked.common)))
}

fn repository(git: &Path, found: &Metadata) -> Vec<Fence> {
    // The cell can't look into a repository that is closed to its owner, so it could not verify the mounts.
    let kept = os::is_open_to_its_owner(found).then(|| orders::keep(git, &orders::OF_REPOSITORY)).flatten();
    let Some(kept) = kept else {
        return vec![Fence::Found(mount(git.to_owned(), found, Access::ReadOnly))];
    };
    let mut fences = vec![Fence::Found(mount(git.to_owned(), found, Access::ReadWrite))];
    fences.extend(kept);
    fences
}

/// The repository of a linked worktree. The other worktrees' directories stay read-only: the host takes orders from
/// them too, and to a git that can't see their working trees they look abandoned, so it would prune them. They stay
/// visible because git looks there for objects it must not collect.
///
/// Shared, but still writable: branches, objects (and with them `objects/info/alternates`) and the main worktree's
/// `HEAD` and `index`. None of it is executed; a command that may move branches can do to the main worktree whatever
/// its `HEAD` could; and the host's git replaces those two files so often that a mount over them would not last.
fn worktree(linked: &Linked) -> Vec<Fence> {
    let Linked { common, admin } = linked;
    let kept = orders::keep(common, &orders::OF_REPOSITORY)
        .zip(orders::keep(common, &orders::OF_MAIN_WORKTREE))
        .zip(orders::keep(admin, &orders::OF_WORKTREE));
    let Some(((of_repository, of_main), of_worktree)) = kept else {
        return there(common.clone(), Access::ReadOnly).into_iter().collect();
    };
    let writable = |path: PathBuf| there(path, Access::ReadWrite);
    let mut fences: Vec<Fence> = writable(common.clone()).into_iter().collect();
    fences.extend(of_repository.into_iter().chain(of_main));
    fences.extend(SHARED.iter().filter_map(|name| writable(common.join(name))));
    fences.extend(writable(admin.clone()));
    fences.extend(of_worktree);
    fences
}

/// The entry at a canonical path, unless it has become a link.
fn there(path: PathBuf, access: Access) -> Option<Fence> {
    let dir = Dir::open(path.parent()?).ok()?;
    let found = dir.metadata(path.file_name()?).ok().filter(|found| !found.is_symlink())?;
    Some(Fence::Found(mount(path, &found, access)))
}

fn mount(path: PathBuf, found: &Metadata, access: Access) -> PlannedMount {
    PlannedMount { source: path.clone(), target: path, access, id: os::id(found) }
}

#[cfg(test)]
pub(super) mod place;
#[cfg(test)]
mod tests;
