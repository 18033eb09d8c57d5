//! The emergency stop. Each test has a state directory of its own.

use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

use rustix::process::Signal;

use crate::control::{begun, runs};
use crate::support::{Marker, OUTER_LIMIT, Place, eventually, wait};

fn text(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

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
    assert!(place.output(["emergency-stop"]).status.success(), "twice is once");
    assert!(text(&place.output(["resume"])).contains("start again"));
    assert!(text(&place.output(["resume"])).contains("no emergency stop"));
    assert_eq!(place.output(["run", "--quiet", "--", "echo", "hello"]).stdout, b"hello\n");
}

/// R14: while eight loops keep starting runs. After it returns nothing of them is alive, and nothing new comes.
#[test]
fn while_eight_loops_keep_starting_runs() {
    let (place, marker) = (Place::new(), Marker::new());
    let (begun, refused, over) = (AtomicU32::new(0), AtomicU32::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while !over.load(Ordering::Acquire) {
                    let script = format!("{}; sleep {marker}", marker.daemon());
                    let mut command = place.agentctl(["run", "--", "sh", "-c", &script]);
                    let child: Child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
                    begun.fetch_add(1, Ordering::AcqRel);
                    let output = child.wait_with_output().unwrap();
                    if text(&output).contains("agentctl resume") {
                        refused.fetch_add(1, Ordering::AcqRel);
                        return;
                    }
                }
            });
        }
        assert!(eventually(OUTER_LIMIT, || runs(&place).len() >= 4), "they run");
        let output = place.output(["emergency-stop"]);
        marker.assert_gone();
        assert!(output.status.success(), "{}", text(&output));
        assert!(runs(&place).is_empty());
        // Every loop comes round once more and is told.
        let told = eventually(OUTER_LIMIT, || refused.load(Ordering::Acquire) == 8);
        over.store(true, Ordering::Release);
        assert!(told, "{refused:?} of {begun:?}");
    });
    marker.assert_gone();
}

/// R14, F1: owners that are killed at random while it goes on.
#[test]
fn in_the_middle_of_owners_that_are_killed() {
    let (place, marker) = (Place::new(), Marker::new());
    let times = if std::env::var_os("EXEC_TEST_SOAK").is_some() { 50 } else { 3 };
    for round in 0..times {
        let script = format!("{}; sleep {marker}", marker.daemon());
        let start = |_| place.agentctl(["run", "--quiet", "--", "sh", "-c", &script]).spawn().unwrap();
        let mut owners: Vec<Child> = (0..10).map(start).collect();
        assert!(eventually(OUTER_LIMIT, || runs(&place).len() > round % 10), "they run");
        for owner in owners.iter_mut().step_by(2) {
            owner.kill().unwrap();
        }
        let output = place.output(["emergency-stop"]);
        assert!(output.status.success(), "{}", text(&output));
        marker.assert_gone();
        for owner in &mut owners {
            wait(owner);
        }
        marker.assert_gone();
        place.output(["gc"]);
        assert!(runs(&place).is_empty());
        place.output(["resume"]);
    }
}

/// R14: an orchestrator that is stopped in the middle of everything.
#[test]
fn a_stopped_owner_is_no_obstacle() {
    let (place, marker) = (Place::new(), Marker::new());
    let mut run = begun(&place, &marker);
    run.send(Signal::STOP);
    let output = place.output(["emergency-stop"]);
    assert!(output.status.success(), "{}", text(&output));
    marker.assert_gone();
    run.send(Signal::CONT);
    run.wait();
}
