//! Repositories made by hand: what git would write, and what somebody who means harm would.

use rstest::rstest;

use super::place::Place;
use super::*;

/// A13
#[test]
fn a_repository_keeps_what_git_takes_orders_from() {
    let place = Place::new();
    assert_eq!(place.planned("", Access::ReadWrite), [""; 0]);
    place.file(".git/config", "[core]");
    let expected = [
        ".git",
        ".git/config (ro)",
        ".git/config.worktree (ro)",
        ".git/commondir (ro)",
        ".git/hooks (ro)",
        ".git/info (ro)",
        ".git/worktrees (ro)",
    ];
    assert_eq!(place.planned("", Access::ReadWrite), expected);
    assert_eq!(place.planned("", Access::ReadWrite), expected, "the second time, too");
    let contents = ["config", "config.worktree", "commondir"]
        .map(|name| fs::read_to_string(place.path.join(".git").join(name)).unwrap());
    assert_eq!(contents, ["[core]", "", ".\n"]);
}

#[test]
fn looking_makes_nothing() {
    let place = Place::new();
    place.file(".git/config", "");
    assert_eq!(place.planned("", Access::ReadOnly), [""; 0]);
    assert_eq!(fs::read_dir(place.path.join(".git")).unwrap().count(), 1);
}

/// A13: a link could be replaced whatever is mounted where it leads.
#[rstest]
#[case::hooks("hooks")]
#[case::configuration("config")]
#[case::planted("commondir")]
fn what_is_a_link_makes_the_repository_read_only(#[case] name: &str) {
    let place = Place::new();
    place.file(".git/HEAD", "");
    place.link(&format!(".git/{name}"), "/etc/hosts");
    assert_eq!(place.planned("", Access::ReadWrite), [".git (ro)"]);
}

#[test]
fn a_linked_worktree_keeps_its_pointer() {
    let place = Place::new();
    place.file(".git", "gitdir: /elsewhere");
    assert_eq!(place.planned("", Access::ReadWrite), [".git (ro)"]);
}
