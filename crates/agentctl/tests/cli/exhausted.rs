//! F7: when the system runs out of a resource, `agentctl` reports it in its own words and leaves nothing
//! behind.

use std::process::{Command, Output};

use crate::support::{Marker, Place, program};

/// Runs `agentctl` under a program that takes a resource away from it.
fn under(place: &Place, takes: &[&str], marker: &Marker) -> Output {
    let [first, rest @ ..] = takes else { panic!("a program") };
    let script = format!("{}; exit 0", marker.daemon());
    Command::new(first)
        .args(rest)
        .arg(program())
        .args(["run", "--quiet", "--sandbox", "local", "--", "sh", "-c", &script])
        .current_dir(place.path())
        .output()
        .unwrap()
}

/// It worked, or it was refused with a reason; it never crashed.
fn assert_works_or_gives_a_reason(output: &Output, case: &str) -> bool {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("panicked"), "{case}: {said}");
    match output.status.code() {
        Some(0) => true,
        Some(125) => {
            assert!(said.contains("agentctl: "), "{case}: {said}");
            false
        }
        other => panic!("{case}: {other:?}: {said}"),
    }
}

/// F7: EMFILE, wherever it occurs first.
#[test]
fn few_descriptors() {
    let place = Place::new();
    let (mut worked, mut refused) = (0, 0);
    // Below this the runtime itself can not start.
    for limit in 8..40 {
        let marker = Marker::new();
        let output = under(&place, &["prlimit", &format!("--nofile={limit}")], &marker);
        if assert_works_or_gives_a_reason(&output, &format!("{limit} descriptors")) {
            worked += 1;
        } else {
            refused += 1;
        }
        marker.assert_gone();
    }
    assert!(worked > 0 && refused > 0, "{worked} worked, {refused} were refused");
}

/// F7: EAGAIN, at every place where `agentctl` itself makes a process or thread.
#[test]
fn no_more_processes() {
    let place = Place::new();
    let mut refused = 0;
    for when in 1..=3 {
        let marker = Marker::new();
        let inject = format!("inject=clone,clone3,fork,vfork:error=EAGAIN:when={when}");
        let output = under(&place, &["strace", "-qq", "-o", "/dev/null", "-e", &inject], &marker);
        if !assert_works_or_gives_a_reason(&output, &inject) {
            refused += 1;
        }
        marker.assert_gone();
    }
    assert!(refused > 0, "the fault never occurred");
}

/// F7: no space in memory or on disk for its temporary files.
#[test]
fn no_more_space() {
    let place = Place::new();
    for call in ["memfd_create", "pipe2", "ftruncate"] {
        let marker = Marker::new();
        let inject = format!("inject={call}:error=ENOSPC");
        let output = under(&place, &["strace", "-qq", "-o", "/dev/null", "-e", &inject], &marker);
        assert_works_or_gives_a_reason(&output, &inject);
        marker.assert_gone();
    }
}
