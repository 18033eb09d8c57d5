//! Repositories made by hand, as git would write them and as an attacker would.

use std::fs;

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
    for fence in place.fences("", Access::ReadWrite) {
        fence.put_up().unwrap();
    }
    assert_eq!(place.planned("", Access::ReadWrite), expected, "the second time, too");
    let contents = ["config", "config.worktree", "commondir"]
        .map(|name| fs::read_to_string(place.path.join(".git").join(name)).unwrap());
    assert_eq!(contents, ["[core]", "", ".\n"]);
}

#[test]
fn what_is_only_read_needs_no_fence() {
    let place = Place::new();
    place.file(".git/config", "");
    assert_eq!(place.planned("", Access::ReadOnly), [""; 0]);
}

/// A13: a link could be replaced whatever is mounted at its target.
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

/// R25, A13
#[test]
fn a_linked_worktree_has_its_repository() {
    let place = Place::new();
    place.worktree();
    place.file("main/.git/modules/sub/config", "");
    place.file("main/.git/logs/HEAD", "");
    let expected = [
        "own/.git (ro)",
        "main/.git",
        "main/.git/config (ro)",
        "main/.git/config.worktree (ro)",
        "main/.git/commondir (ro)",
        "main/.git/hooks (ro)",
        "main/.git/info (ro)",
        "main/.git/worktrees (ro)",
        "main/.git/modules (ro)",
        "main/.git/objects",
        "main/.git/refs",
        "main/.git/logs",
        "main/.git/worktrees/own",
        "main/.git/worktrees/own/commondir (ro)",
        "main/.git/worktrees/own/gitdir (ro)",
        "main/.git/worktrees/own/config.worktree (ro)",
    ];
    assert_eq!(place.planned("own", Access::ReadWrite), expected);
    assert_eq!(place.planned("own", Access::ReadOnly), ["main/.git (ro)"]);
}

/// R25: as git writes them with `worktree.useRelativePaths`.
#[test]
fn relative_pointers_lead_there_too() {
    let place = Place::new();
    place.worktree();
    place.file("own/.git", "gitdir: ../main/.git/worktrees/own\n");
    place.file("main/.git/worktrees/own/gitdir", "../../../../own/.git\n");
    assert_eq!(place.planned("own", Access::ReadOnly), ["main/.git (ro)"]);
}

/// R25: a bare repository is treated like any other.
#[test]
fn a_worktree_of_a_bare_repository() {
    let place = Place::new();
    place.worktree();
    fs::rename(place.path.join("main/.git"), place.path.join("bare")).unwrap();
    place.file("own/.git", &format!("gitdir: {}/bare/worktrees/own\n", place.path.display()));
    assert_eq!(place.planned("own", Access::ReadOnly), ["bare (ro)"]);
}

/// A13
#[test]
fn a_link_in_the_repository_makes_it_read_only() {
    let place = Place::new();
    place.worktree();
    place.link("main/.git/worktrees/own/config.worktree", "/etc/hosts");
    assert_eq!(place.planned("own", Access::ReadWrite), ["own/.git (ro)", "main/.git (ro)"]);
}

/// A13: a pointer is followed only to a repository that points back, whatever its author.
#[rstest]
#[case::no_pointer("own/.git", "main/.git/worktrees/own")]
#[case::somewhere("own/.git", "gitdir: /etc")]
#[case::the_repository_itself("own/.git", "gitdir: ../main/.git")]
#[case::nowhere("own/.git", "gitdir: /nowhere/worktrees/x")]
#[case::endless("own/.git", &"gitdir: ".repeat(10_000))]
#[case::of_another_worktree("main/.git/worktrees/own/gitdir", "/another/.git")]
#[case::of_another_repository("main/.git/worktrees/own/commondir", "../../../../another/.git")]
#[case::in_its_repository("main/.git/worktrees/own/commondir", "../../..")]
#[case::no_word("main/.git/worktrees/own/gitdir", "")]
fn a_pointer_that_is_not_answered_is_not_followed(#[case] file: &str, #[case] contents: &str) {
    let place = Place::new();
    place.worktree();
    place.repository("another/.git");
    place.file(file, contents);
    assert_eq!(place.planned("own", Access::ReadWrite), ["own/.git (ro)"]);
    assert_eq!(place.planned("own", Access::ReadOnly), [""; 0]);
}

/// A13: a directory with such files is not a repository yet.
#[rstest]
#[case("HEAD")]
#[case("objects")]
#[case("refs")]
fn what_is_no_repository_is_not_mounted(#[case] name: &str) {
    let place = Place::new();
    place.worktree();
    fs::rename(place.path.join("main/.git").join(name), place.path.join("moved")).unwrap();
    assert_eq!(place.planned("own", Access::ReadWrite), ["own/.git (ro)"]);
    place.link(&format!("main/.git/{name}"), "../../moved");
    assert_eq!(place.planned("own", Access::ReadWrite), ["own/.git (ro)"], "nor is a link");
}

/// R20: a worktree in a bare repository would show the rest of that repository.
#[test]
fn a_worktree_within_its_repository_is_left_alone() {
    let place = Place::new();
    place.repository("bare");
    place.file("bare/own/.git", "gitdir: ../worktrees/own\n");
    place.file("bare/worktrees/own/commondir", "../..\n");
    place.file("bare/worktrees/own/gitdir", "../../own/.git\n");
    assert_eq!(place.planned("bare/own", Access::ReadWrite), ["bare/own/.git (ro)"]);
}

/// A13: a repository with another owner is not mounted. Only root can create one.
#[test]
fn a_repository_of_another_owner_is_not_mounted() {
    let place = Place::new();
    place.worktree();
    for owned in ["main/.git", "main/.git/worktrees", "main/.git/worktrees/own"] {
        let path = place.path.join(owned);
        if std::os::unix::fs::chown(&path, Some(12_345), None).is_err() {
            return;
        }
        assert_eq!(place.planned("own", Access::ReadWrite), ["own/.git (ro)"], "{owned}");
        std::os::unix::fs::chown(&path, Some(0), None).unwrap();
    }
    assert!(place.planned("own", Access::ReadWrite).len() > 1, "with the same owner it is mounted");
}

/// R22: a place that is refused as a mount is not mounted because of a pointer either.
#[test]
fn a_repository_in_a_dangerous_place_is_not_mounted() {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        let place = Place::below(memory);
        place.worktree();
        assert_eq!(place.planned("own", Access::ReadWrite), ["own/.git (ro)"]);
    }
}
