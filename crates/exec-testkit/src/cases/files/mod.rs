//! What a command sees of the host, and where its files go.

mod git;
mod home;
mod links;
mod mounts;
mod tmp;
mod workspace;
mod worktrees;

use super::Group;

pub(super) const GROUPS: &[Group] = &[
    ("files::workspace", workspace::CASES),
    ("files::mounts", mounts::CASES),
    ("files::tmp", tmp::CASES),
    ("files::home", home::CASES),
    ("files::links", links::CASES),
    ("files::git", git::CASES),
    ("files::worktrees", worktrees::CASES),
];
