//! What is refused, and what is left alone. Only `tests/prepare.rs` writes notes: it has its own place for them.

use std::fs;

use rstest::rstest;

use super::super::git::place::Place;
use super::*;
use crate::{Cmd, Error, ErrorKind, ExecOpts, MountSpec, OwnPlaces, WorkspaceMode, could_be_a_commands};

fn resolve(opts: &ExecOpts) -> Plan {
    Plan::resolve(&Cmd::new("true"), opts, [], &OwnPlaces::default()).unwrap()
}

/// A read-only directory needs no note and no fence.
#[test]
fn a_read_only_run_prepares_nothing() {
    let place = Place::new();
    place.repository(".git");
    let before = fs::read_dir(place.path.join(".git")).unwrap().count();
    let mode = WorkspaceMode::ReadOnly { writable: Vec::new() };
    resolve(&ExecOpts::in_workspace(&place.path).with_workspace_mode(mode)).prepare(Fences::Hold).unwrap();
    assert_eq!(fs::read_dir(place.path.join(".git")).unwrap().count(), before);
    assert!(!could_be_a_commands(&place.path));
}

/// A39: a repository that is unknown to the plan would be writable as a whole.
#[rstest]
#[case::in_the_workspace("own")]
#[case::in_a_mount("mounted")]
fn a_repository_that_appears_after_the_plan_is_refused(
    #[case] at: &str,
    #[values("directory", "pointer", "link")] kind: &str,
) {
    let place = Place::new();
    for name in ["own", "mounted"] {
        fs::create_dir(place.path.join(name)).unwrap();
    }
    let mount = MountSpec::read_write(place.path.join("mounted")).at("/mounted");
    let plan = resolve(&ExecOpts::in_workspace(place.path.join("own")).with_mount(mount));
    match kind {
        "directory" => place.repository(&format!("{at}/.git")),
        "pointer" => place.file(&format!("{at}/.git"), "gitdir: /x"),
        _ => place.link(&format!("{at}/.git"), "/x"),
    }
    let error: Error = plan.prepare(Fences::Hold).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.to_string().contains(at) && error.remedy().is_some(), "{error}");
    assert!(!could_be_a_commands(&place.path.join("own")));
}
