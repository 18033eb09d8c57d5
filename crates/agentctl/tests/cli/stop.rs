//! Stop means stop, a hundred times each: no process of a run outlives it.

use std::io::Read;
use std::time::Duration;

use rustix::process::Signal;

use crate::support::{Marker, OUTER_LIMIT, Place, Run};

/// `cargo xtask soak` has more time.
fn times() -> u32 {
    if std::env::var_os("EXEC_TEST_SOAK").is_some() { 1000 } else { 100 }
}

/// A run that has left a process behind and keeps running.
fn begun(place: &Place, marker: &Marker, then: &str) -> Run {
    let mut run = place.shell(&[], &format!("{}; echo up; {then}", marker.daemon()));
    run.expect_line("up");
    marker.assert_appears();
    run
}

/// R10, A14
#[test]
fn when_the_command_exits() {
    let place = Place::new();
    for _ in 0..times() {
        let marker = Marker::new();
        let mut run = place.shell(&[], &format!("{} ; exit 3", marker.daemon()));
        assert_eq!(run.code(), Some(3));
        marker.assert_gone();
    }
}

/// R10: the positive control of the test above: the daemon is seen before the command exits.
#[test]
fn when_the_command_exits_after_its_daemon_was_seen() {
    let place = Place::new();
    for _ in 0..times() {
        let marker = Marker::new();
        let mut command = place.agentctl(["run", "--quiet", "--", "sh", "-c"]);
        command.arg(format!("{}; echo up; read line; exit 3", marker.daemon()));
        let mut run = Run::spawn(command.stdin(std::process::Stdio::piped()));
        run.expect_line("up");
        marker.assert_appears();
        drop(run.child().stdin.take());
        assert_eq!(run.code(), Some(3));
        marker.assert_gone();
    }
}

/// R10
#[test]
fn when_the_time_is_up() {
    let place = Place::new();
    let mut begun = 0;
    for _ in 0..times() {
        let marker = Marker::new();
        let mut run = place
            .shell(&["--timeout", "200ms"], &format!("{}; echo up; exec sleep {marker}", marker.daemon()));
        assert_eq!(run.code(), Some(124));
        marker.assert_gone();
        let mut said = String::new();
        run.stdout().read_to_string(&mut said).unwrap();
        begun += u32::from(said == "up\n");
    }
    assert!(begun > times() / 2, "only {begun} of {} got as far as leaving a process behind", times());
}

/// R12
#[test]
fn when_interrupted() {
    let place = Place::new();
    for _ in 0..times() {
        let marker = Marker::new();
        let mut run = begun(&place, &marker, &format!("exec sleep {marker}"));
        run.send(Signal::INT);
        assert_eq!(run.code(), Some(130));
        marker.assert_gone();
    }
}

/// R12: the command handles the first interrupt and keeps running; the second kills it.
#[test]
fn when_interrupted_twice() {
    let place = Place::new();
    for _ in 0..times() {
        let marker = Marker::new();
        let script = "trap 'echo caught' INT; echo set; while :; do sleep 0.05; done";
        let mut run = begun(&place, &marker, script);
        run.expect_line("set");
        run.send(Signal::INT);
        run.expect_line("caught");
        run.send(Signal::INT);
        assert_eq!(run.code(), Some(130));
        marker.assert_gone();
    }
}

/// R12
#[test]
fn when_terminated() {
    let place = Place::new();
    for _ in 0..times() {
        let marker = Marker::new();
        let mut run = begun(&place, &marker, &format!("exec sleep {marker}"));
        run.send(Signal::TERM);
        assert_eq!(run.code(), Some(130));
        marker.assert_gone();
    }
}

/// R11, A19
#[test]
fn when_killed() {
    let place = Place::new();
    for _ in 0..times() {
        let marker = Marker::new();
        let mut run = begun(&place, &marker, &format!("exec sleep {marker}"));
        run.send(Signal::KILL);
        run.wait();
        marker.assert_gone_within(Duration::from_secs(1));
    }
}

/// F2: the deadline ends the run even when `agentctl` itself is stopped.
#[test]
fn when_the_time_is_up_while_agentctl_is_stopped() {
    let place = Place::new();
    let marker = Marker::new();
    let script = format!("{}; echo up; exec sleep {marker}", marker.daemon());
    let mut run = place.shell(&["--timeout", "2s"], &script);
    run.expect_line("up");
    marker.assert_appears();
    run.send(Signal::STOP);
    marker.assert_gone_within(OUTER_LIMIT);
    run.send(Signal::CONT);
    assert_eq!(run.code(), Some(124));
}
