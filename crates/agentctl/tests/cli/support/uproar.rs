//! An emergency stop in the worst of times. Each has its own state directory.

use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

use super::{Marker, OUTER_LIMIT, Place, eventually, runs, said, wait};

/// A run with a daemon that leaves its session; both keep running.
fn lasting(place: &Place, options: &[&str], marker: &Marker) -> std::process::Command {
    let script = format!("{}; sleep {marker}", marker.daemon());
    place.agentctl(["run", "--quiet"].iter().chain(options).chain(&["--", "sh", "-c", &script]))
}

/// R14: while eight loops keep starting runs with these options. After it returns, none of their processes is
/// alive, and no new one appears.
pub(crate) fn while_eight_loops_keep_starting_runs(options: &[&str]) {
    let (place, marker) = (Place::new(), Marker::new());
    let (begun, refused, over) = (AtomicU32::new(0), AtomicU32::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while !over.load(Ordering::Acquire) {
                    let mut command = lasting(&place, options, &marker);
                    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
                    begun.fetch_add(1, Ordering::AcqRel);
                    if said(&child.wait_with_output().unwrap()).contains("agentctl resume") {
                        refused.fetch_add(1, Ordering::AcqRel);
                        return;
                    }
                }
            });
        }
        assert!(eventually(OUTER_LIMIT, || runs(&place).len() >= 4), "they run");
        let output = place.output(["emergency-stop"]);
        marker.assert_gone();
        assert!(output.status.success(), "{}", said(&output));
        assert!(runs(&place).is_empty());
        // Every loop comes round once more and is refused.
        let all_refused = eventually(OUTER_LIMIT, || refused.load(Ordering::Acquire) == 8);
        over.store(true, Ordering::Release);
        assert!(all_refused, "{refused:?} of {begun:?}");
    });
    marker.assert_gone();
}

/// R14, F1: ten owners at a time, every other one of them killed at some moment of its start, this many times
/// over.
pub(crate) fn amid_owners_that_are_killed(options: &[&str], times: usize) {
    let (place, marker) = (Place::new(), Marker::new());
    for round in 0..times {
        let start = |_| lasting(&place, options, &marker).spawn().unwrap();
        let mut owners: Vec<Child> = (0..10).map(start).collect();
        assert!(eventually(OUTER_LIMIT, || runs(&place).len() > round % 10), "they run");
        for owner in owners.iter_mut().step_by(2) {
            owner.kill().unwrap();
        }
        let output = place.output(["emergency-stop"]);
        assert!(output.status.success(), "{}", said(&output));
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

/// How often; `cargo xtask soak` has more time.
pub(crate) fn times(few: usize, many: usize) -> usize {
    if std::env::var_os("EXEC_TEST_SOAK").is_some() { many } else { few }
}
