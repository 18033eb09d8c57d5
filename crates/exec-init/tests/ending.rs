//! How commands are ended: by limits, by stops, and with everything they started.
#![cfg(target_os = "linux")]

mod client;

use std::time::{Duration, Instant};

use client::{Cell, Event, is_running, shell, unique_seconds, until};
use exec_wire::{EndReason, MAX_AFTER_EXIT, MIN_CREDIT, Status, ToCell};

/// Two forks and two sessions away from the command.
fn daemon(seconds: &str) -> String {
    format!("setsid sh -c 'setsid sleep {seconds} >/dev/null 2>&1 & sleep {seconds} >/dev/null 2>&1 &' &")
}

in_both_walls! {
    fn wall_time_ends_a_command(walls) {
        let mut start = shell("echo begun; sleep 1000");
        start.limits.wall_ms = Some(100);
        let outcome = Cell::new(walls).run(1, start);
        assert_eq!(outcome.stdout, b"begun\n");
        assert_eq!(outcome.exited.reason, EndReason::WallTime);
        assert_eq!(outcome.exited.status, Status::Signal(15));
    }

    fn silence_ends_a_command_but_not_a_talking_one(walls) {
        let mut start = shell("for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.1; done; sleep 1000");
        start.limits.idle_ms = Some(400);
        let outcome = Cell::new(walls).run(1, start);
        assert_eq!(outcome.stdout, b"1\n2\n3\n4\n5\n6\n7\n8\n");
        assert_eq!(outcome.exited.reason, EndReason::IdleTime);
    }

    fn a_slow_host_is_not_a_silent_command(walls) {
        let mut cell = Cell::new(walls);
        let mut start = shell("echo one; sleep 0.2; echo two; sleep 1.5");
        start.limits.idle_ms = Some(700);
        cell.start(1, start);
        cell.credit(1, MIN_CREDIT);
        cell.started(1);
        assert_eq!(cell.next(), (1, Event::Stdout(b"one\n".to_vec())));
        // Well over the limit, without credit.
        let (1, Event::Exited(exited)) = cell.next() else { panic!("the end") };
        assert_eq!(exited.reason, EndReason::Own);
        assert_eq!(cell.next(), (1, Event::Stdout(b"two\n".to_vec())));
        assert!(matches!(cell.next(), (1, Event::Closed(_))));
    }

    fn the_output_limit_is_exact(walls) {
        for (script, limit) in [
            ("while :; do echo 0123456789; echo 0123456789 >&2; done", 100_003),
            ("head -c 5000000 /dev/zero; sleep 1000", 4_999_999),
        ] {
            let mut start = shell(script);
            start.limits.output_bytes = Some(limit);
            let outcome = Cell::new(walls).run(1, start);
            assert_eq!((outcome.stdout.len() + outcome.stderr.len()) as u64, limit);
            assert_eq!(outcome.closed.stdout_bytes + outcome.closed.stderr_bytes, limit);
            assert_eq!(outcome.exited.reason, EndReason::OutputLimit);
        }
    }

    fn output_up_to_the_limit_is_allowed(walls) {
        let mut start = shell("head -c 100000 /dev/zero");
        start.limits.output_bytes = Some(100_000);
        let outcome = Cell::new(walls).run(1, start);
        assert_eq!(outcome.stdout.len(), 100_000);
        assert_eq!(outcome.exited.reason, EndReason::Own);
        assert_eq!(outcome.exited.status, Status::Code(0));
    }

    fn too_much_output_by_a_command_that_has_ended_is_still_too_much(walls) {
        let mut cell = Cell::new(walls);
        let mut start = shell("head -c 50000 /dev/zero");
        start.limits.output_bytes = Some(1000);
        cell.start(1, start);
        cell.started(1);
        cell.credit(1, 500);
        let mut got = 0;
        loop {
            match cell.next().1 {
                Event::Stdout(bytes) => got += bytes.len(),
                Event::Exited(exited) => {
                    assert_eq!(exited.reason, EndReason::OutputLimit);
                    cell.credit(1, 500_000);
                }
                Event::Closed(_) => break,
                other => panic!("not expected: {other:?}"),
            }
        }
        assert_eq!(got, 1000);
    }

    fn a_command_that_ignores_the_polite_signal_is_killed_after_the_grace(walls) {
        let mut cell = Cell::new(walls);
        cell.start(1, shell("trap 'echo no' TERM; echo ready; while :; do sleep 0.01; done"));
        cell.credit(1, 1000);
        cell.started(1);
        cell.wait_for(1, "ready");
        cell.send(1, &ToCell::Stop { grace_ms: 150 });
        let outcome = cell.finish(1);
        assert_eq!(outcome.text(), "no\n");
        assert_eq!(outcome.exited.reason, EndReason::Stopped);
        assert_eq!(outcome.exited.status, Status::Signal(9));
    }

    fn a_command_that_obeys_the_polite_signal_ends_in_its_own_way(walls) {
        let mut cell = Cell::new(walls);
        cell.start(1, shell("trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep 0.01; done"));
        cell.credit(1, 1000);
        cell.started(1);
        cell.wait_for(1, "ready");
        cell.send(1, &ToCell::Stop { grace_ms: 20_000 });
        let outcome = cell.finish(1);
        assert_eq!(outcome.text(), "bye\n");
        assert_eq!(outcome.exited.reason, EndReason::Stopped);
        assert_eq!(outcome.exited.status, Status::Code(5));
    }

    fn a_stopped_process_can_still_be_asked_politely(walls) {
        let mut cell = Cell::new(walls);
        cell.start(1, shell("echo ready; kill -STOP $$"));
        cell.credit(1, 1000);
        cell.started(1);
        cell.wait_for(1, "ready");
        cell.send(1, &ToCell::Stop { grace_ms: 20_000 });
        assert_eq!(cell.finish(1).exited.status, Status::Signal(15));
    }

    fn without_grace_there_is_no_polite_signal(walls) {
        let mut cell = Cell::new(walls);
        cell.start(1, shell("trap 'echo polite' TERM; echo ready; while :; do sleep 0.01; done"));
        cell.credit(1, 1000);
        cell.started(1);
        cell.wait_for(1, "ready");
        cell.send(1, &ToCell::Stop { grace_ms: 0 });
        let outcome = cell.finish(1);
        assert_eq!(outcome.text(), "");
        assert_eq!(outcome.exited.status, Status::Signal(9));
    }

    fn a_second_stop_shortens_the_grace_and_the_first_reason_stands(walls) {
        let mut cell = Cell::new(walls);
        let mut start = shell("trap '' TERM; echo ready; while :; do sleep 0.01; done");
        start.limits.wall_ms = Some(300);
        start.limits.grace_ms = 1_000_000;
        cell.start(1, start);
        cell.credit(1, 1000);
        cell.started(1);
        cell.wait_for(1, "ready");
        assert_eq!(cell.next_within(Duration::from_millis(600)), None);
        cell.send(1, &ToCell::Stop { grace_ms: 10 });
        assert_eq!(cell.finish(1).exited.reason, EndReason::WallTime);
    }

    fn a_stop_right_after_the_start_is_a_stop(walls) {
        let mut cell = Cell::new(walls);
        cell.start(1, shell("sleep 1000"));
        cell.send(1, &ToCell::Stop { grace_ms: 10_000 });
        cell.credit(1, 1000);
        cell.started(1);
        let outcome = cell.finish(1);
        assert_eq!(outcome.exited.reason, EndReason::Stopped);
        assert_eq!(outcome.exited.status, Status::Signal(15));
    }

    fn daemons_are_dead_when_a_run_is_closed(walls) {
        let seconds = unique_seconds();
        let mut cell = Cell::new(walls);
        let script = format!("{} until pgrep -f 'sleep {seconds}$' >/dev/null; do :; done", daemon(&seconds));
        let outcome = cell.run(1, shell(&script));
        assert_eq!(outcome.closed.survivors, Vec::<u32>::new());
        assert!(!is_running(&seconds));
    }

    fn background_processes_may_write_until_the_drain_ends(walls) {
        let mut start = shell("(sleep 0.2; echo late; sleep 1000; echo never) & echo early");
        start.limits.drain_ms = 1000;
        let began = Instant::now();
        let outcome = Cell::new(walls).run(1, start);
        assert_eq!(outcome.text(), "early\nlate\n");
        assert!(began.elapsed() < Duration::from_secs(20));
    }

    /// F9: nothing can write any more, so the rest is bounded and is sent without credit.
    fn output_that_waits_for_credit_survives_the_kill(walls) {
        let mut cell = Cell::new(walls);
        let mut start = shell("head -c 60000 /dev/zero; sleep 1000 & exit 0");
        start.limits.drain_ms = 10;
        cell.start(1, start);
        cell.started(1);
        let outcome = cell.finish(1);
        assert_eq!(outcome.exited.status, Status::Code(0));
        assert_eq!(outcome.stdout.len(), 60_000);
    }

    /// F9: a flood without a reader is ended by its limit, and the limit is named.
    fn a_limit_ends_an_unread_flood(walls) {
        let mut cell = Cell::new(walls);
        let mut start = client::command(&["yes"]);
        start.limits.wall_ms = Some(300);
        start.limits.grace_ms = 0;
        cell.start(1, start);
        cell.started(1);
        let outcome = cell.finish(1);
        assert_eq!(outcome.exited.reason, EndReason::WallTime);
        assert!(outcome.stdout.len() as u32 <= MAX_AFTER_EXIT);
    }

    fn everything_dies_with_the_host(walls) {
        let seconds = unique_seconds();
        let mut cell = Cell::new(walls);
        cell.start(1, shell(&format!("{} sleep {seconds}", daemon(&seconds))));
        cell.started(1);
        until("the command sleeps", || is_running(&seconds));
        cell.hang_up();
        assert_eq!(cell.wait().code(), Some(0));
        assert!(!is_running(&seconds));
    }

    fn everything_dies_with_a_host_that_never_read(walls) {
        let seconds = unique_seconds();
        let mut cell = Cell::new(walls);
        cell.start(1, shell(&format!("{} trap '' TERM; yes; sleep {seconds}", daemon(&seconds))));
        cell.started(1);
        cell.credit(1, u32::MAX);
        until("the daemon sleeps", || is_running(&seconds));
        cell.hang_up();
        assert_eq!(cell.wait().code(), Some(0));
        assert!(!is_running(&seconds));
    }

    fn processes_that_fork_all_the_time_die_too(walls) {
        let seconds = unique_seconds();
        // Each process is short-lived and hands over to the next. Bounded in case the test fails.
        let script = format!(
            "hop() {{ [ $1 -gt 20000 ] || (hop $(($1+1)) {seconds} &) }}; hop 0 {seconds}; hop 1; sleep {seconds}"
        );
        let mut cell = Cell::new(walls);
        cell.start(1, shell(&script));
        cell.started(1);
        until("it sleeps", || is_running(&seconds));
        cell.send(1, &ToCell::Stop { grace_ms: 0 });
        let closed = cell.finish(1).closed;
        assert_eq!(closed.survivors, Vec::<u32>::new());
        assert!(!is_running(&seconds));
    }
}
