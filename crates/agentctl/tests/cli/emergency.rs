//! The emergency stop. Each test has its own state directory.

use rustix::process::Signal;

use crate::control::begun;
use crate::support::{Marker, Place, said as text, uproar};

/// R14
#[test]
fn everything_ends_and_nothing_starts_until_it_is_lifted() {
    let (place, marker) = (Place::new(), Marker::new());
    let mut run = begun(&place, &marker);
    let output = place.output(["emergency-stop"]);
    assert!(output.status.success(), "{}", text(&output));
    marker.assert_gone();
    assert_eq!(run.code(), Some(125));
    for args in [&["run", "--", "echo", "hello"][..], &["run", "--sandbox", "auto", "--", "echo", "hello"]] {
        let refused = place.output(args);
        assert_eq!(refused.status.code(), Some(125), "{args:?}");
        assert!(
            refused.stdout.is_empty() && text(&refused).contains("agentctl resume"),
            "{}",
            text(&refused)
        );
    }
    assert!(text(&place.output(["ps"])).contains("emergency stop"));
    assert!(place.output(["emergency-stop"]).status.success(), "a second stop changes nothing");
    assert!(text(&place.output(["resume"])).contains("start again"));
    assert!(text(&place.output(["resume"])).contains("no emergency stop"));
    assert_eq!(place.output(["run", "--quiet", "--", "echo", "hello"]).stdout, b"hello\n");
}

/// R14
#[test]
fn while_eight_loops_keep_starting_runs() {
    uproar::while_eight_loops_keep_starting_runs(&[]);
}

/// R14, F1
#[test]
fn while_owners_are_being_killed() {
    uproar::amid_owners_that_are_killed(&[], uproar::times(3, 50));
}

/// R14: an orchestrator that is stopped at an arbitrary point.
#[test]
fn a_stopped_owner_does_not_prevent_it() {
    let (place, marker) = (Place::new(), Marker::new());
    let mut run = begun(&place, &marker);
    run.send(Signal::STOP);
    let output = place.output(["emergency-stop"]);
    assert!(output.status.success(), "{}", text(&output));
    marker.assert_gone();
    run.send(Signal::CONT);
    run.wait();
}
