//! Signals to `agentctl` and their effect on the run.

use exec_wire::procfs::Stat;
use rustix::process::Signal;

use crate::support::{Marker, OUTER_LIMIT, Place, Run, eventually};

/// A loop with these traps. A shell checks its traps between commands, so each command must be short.
fn trapping(traps: &str) -> String {
    format!("{traps}; echo up; while :; do sleep 0.05; done")
}

/// R12: the command decides what an interrupt means.
#[test]
fn an_interrupt_is_the_commands_to_handle() {
    let place = Place::new();
    let mut run = place.shell(&[], &trapping("trap 'echo caught; exit 7' INT"));
    run.expect_line("up");
    run.send(Signal::INT);
    run.expect_line("caught");
    assert_eq!(run.code(), Some(7));
}

/// R12
#[test]
fn a_termination_is_polite_first() {
    let place = Place::new();
    let mut run = place.shell(&[], &trapping("trap 'echo bye; exit 0' TERM"));
    run.expect_line("up");
    run.send(Signal::TERM);
    run.expect_line("bye");
    assert_eq!(run.code(), Some(130));
}

/// A15: a command that ignores it is killed after its grace period.
#[test]
fn a_termination_that_is_ignored_is_enforced() {
    let place = Place::new();
    let mut run = place.shell(&["--grace", "100ms"], &trapping("trap '' TERM"));
    run.expect_line("up");
    run.send(Signal::TERM);
    assert_eq!(run.code(), Some(130));
}

/// R12
#[test]
fn a_second_termination_does_not_wait_for_the_grace() {
    let place = Place::new();
    let mut run = place.shell(&["--grace", "1h"], &trapping("trap 'echo asked' TERM"));
    run.expect_line("up");
    run.send(Signal::TERM);
    run.expect_line("asked");
    run.send(Signal::TERM);
    assert_eq!(run.code(), Some(130));
}

#[test]
fn other_signals_are_passed_on_as_often_as_they_come() {
    let place = Place::new();
    let mut run = place.shell(&[], &trapping("trap 'echo one' USR1; trap 'echo two; exit 5' USR2"));
    run.expect_line("up");
    for _ in 0..3 {
        run.send(Signal::USR1);
        run.expect_line("one");
    }
    run.send(Signal::USR2);
    run.expect_line("two");
    assert_eq!(run.code(), Some(5));
}

/// SIGHUP stays ignored if the parent process ignored it.
#[test]
fn nohup_holds() {
    let place = Place::new();
    let script = trapping("trap 'echo one' USR1; trap 'echo hup' HUP");
    let mut command = std::process::Command::new("nohup");
    command.arg(crate::support::program()).args([
        "run",
        "--quiet",
        "--sandbox",
        "local",
        "--",
        "sh",
        "-c",
        &script,
    ]);
    command.current_dir(place.path()).stdin(std::process::Stdio::null());
    let mut run = Run::spawn(&mut command);
    run.expect_line("up");
    run.send(Signal::HUP);
    run.send(Signal::USR1);
    run.expect_line("one");
    run.send(Signal::TERM);
    assert_eq!(run.code(), Some(130));
}

/// F9: a second signal ends everything even if the output has no reader.
#[test]
fn a_stalled_reader_does_not_keep_it_alive() {
    let place = Place::new();
    let marker = Marker::new();
    let script = format!("trap '' INT; {}; echo up; exec cat /dev/zero", marker.daemon());
    let mut run = place.shell(&[], &script);
    run.expect_line("up");
    marker.assert_appears();
    assert!(eventually(OUTER_LIMIT, || is_blocked_writing(run.pid())));
    // Two signals in quick succession may arrive as one; a user, too, would press the keys until it ends.
    let ended = eventually(OUTER_LIMIT, || {
        run.send(Signal::INT);
        run.child().try_wait().unwrap().is_some()
    });
    assert!(ended, "agentctl should have ended");
    assert_eq!(run.code(), Some(130));
    marker.assert_gone();
}

/// Whether one of the process's threads waits for space in a pipe.
fn is_blocked_writing(pid: u32) -> bool {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    tasks.filter_map(Result::ok).any(|task| {
        let stat = std::fs::read(task.path().join("stat")).unwrap_or_default();
        Stat::parse(&stat).is_some_and(|stat| stat.name == "output" && stat.state == 'S')
    })
}
