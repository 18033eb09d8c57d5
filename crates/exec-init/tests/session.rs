//! Cells kept for many commands.
#![cfg(target_os = "linux")]

mod client;

use client::{Cell, Event, in_session, is_running, shell, unique_seconds, until, with_stdin};
use exec_wire::{EndReason, Stage, Status, ToCell, credit_cost};

in_both_walls! {
    fn commands_follow_each_other(walls) {
        let mut cell = Cell::new(walls);
        for run in 1..20 {
            let outcome = cell.run(run, in_session(shell(&format!("echo {run}; exit {run}"))));
            assert_eq!(outcome.text(), format!("{run}\n"));
            assert_eq!(outcome.exited.status, Status::Code(run as i32));
        }
    }

    fn commands_run_at_once_and_keep_apart(walls) {
        let mut cell = Cell::new(walls);
        for run in 1..=20 {
            cell.start(run, in_session(with_stdin(shell("read line; echo $line"))));
            cell.credit(run, 1000);
        }
        let mut texts = vec![Vec::new(); 21];
        let (mut started, mut closed) = (0, 0);
        while closed < 20 {
            match cell.next() {
                (_, Event::Started(_)) => {
                    started += 1;
                    if started == 20 {
                        for run in (1..=20).rev() {
                            cell.send(run, &ToCell::Stdin(format!("line {run}\n").as_bytes()));
                        }
                    }
                }
                (run, Event::Stdout(bytes)) => texts[run as usize].extend(bytes),
                (_, Event::Exited(exited)) => assert_eq!(exited.status, Status::Code(0)),
                (_, Event::Closed(_)) => closed += 1,
                (_, Event::StdinCredit(_)) => {}
                other => panic!("not expected: {other:?}"),
            }
        }
        for (run, text) in texts.iter().enumerate().skip(1) {
            assert_eq!(*text, format!("line {run}\n").as_bytes());
        }
    }

    fn one_commands_input_ends_though_others_run(walls) {
        let mut cell = Cell::new(walls);
        cell.start(1, in_session(with_stdin(shell("cat; echo end"))));
        cell.credit(1, 1000);
        cell.started(1);
        // Although started later, its processes must not hold the other's pipe.
        cell.start(2, in_session(shell("sleep 1000")));
        while !matches!(cell.next(), (2, Event::Started(_))) {}
        cell.send(1, &ToCell::StdinEof);
        assert_eq!(cell.finish(1).text(), "end\n");
    }

    fn background_processes_outlive_their_command_and_not_the_session(walls) {
        let seconds = unique_seconds();
        let mut cell = Cell::new(walls);
        // It keeps writing to a stream without a reader, and is not harmed by that.
        let script = format!("(echo late; setsid sh -c 'while sleep 0.05; do echo beat; done' & exec sleep {seconds}) & echo now");
        let mut start = in_session(shell(&script));
        start.limits.drain_ms = 100;
        let outcome = cell.run(1, start);
        assert_eq!(outcome.exited.status, Status::Code(0));
        assert!(outcome.text().contains("now"));
        assert!(is_running(&seconds));
        let beats = cell.run(2, in_session(shell("sleep 0.3; pgrep -fc 'while sleep 0.05'")));
        assert_ne!(beats.text().trim(), "0");
        cell.hang_up();
        assert_eq!(cell.wait().code(), Some(0));
        assert!(!is_running(&seconds));
    }

    fn a_stop_kills_all_of_one_run_and_nothing_of_another(walls) {
        let (mine, others) = (unique_seconds(), unique_seconds());
        let mut cell = Cell::new(walls);
        cell.start(1, in_session(shell(&format!("sleep {others}"))));
        cell.credit(1, 1000);
        cell.started(1);
        let script = format!("setsid sh -c 'setsid sleep {mine} >/dev/null 2>&1 & setsid sleep {mine} & wait' & trap '' TERM; sleep {mine}; wait");
        cell.start(2, in_session(shell(&script)));
        cell.credit(2, 1000);
        cell.started(2);
        until("both sleep", || is_running(&mine) && is_running(&others));
        cell.send(2, &ToCell::Stop { grace_ms: 50 });
        let outcome = cell.finish(2);
        assert_eq!(outcome.exited.reason, EndReason::Stopped);
        assert_eq!(outcome.closed.survivors, Vec::<u32>::new());
        assert!(!is_running(&mine));
        assert!(is_running(&others));
    }

    fn a_limit_kills_all_of_a_run(walls) {
        let seconds = unique_seconds();
        let mut cell = Cell::new(walls);
        let mut start = in_session(shell(&format!("setsid sleep {seconds} & exec sleep {seconds}")));
        start.limits.wall_ms = Some(200);
        let outcome = cell.run(1, start);
        assert_eq!(outcome.exited.reason, EndReason::WallTime);
        assert!(!is_running(&seconds));
        assert_eq!(cell.run(2, in_session(shell("echo on"))).text(), "on\n");
    }

    fn a_command_that_kills_its_runner_gains_nothing(walls) {
        let seconds = unique_seconds();
        let mut cell = Cell::new(walls);
        let script = format!("setsid sleep {seconds} >/dev/null 2>&1 & kill -9 $PPID; exec sleep {seconds}");
        let outcome = cell.run(1, in_session(shell(&script)));
        assert_eq!(outcome.exited.status, Status::Signal(9));
        until("nothing is left", || !is_running(&seconds));
        assert_eq!(cell.run(2, in_session(shell("echo on"))).text(), "on\n");
    }

    fn a_command_that_stops_its_runner_still_ends(walls) {
        let mut cell = Cell::new(walls);
        let outcome = cell.run(1, in_session(shell("kill -STOP $PPID; exit 4")));
        assert_eq!(outcome.exited.status, Status::Code(4));
    }

    fn usage_is_the_runs_own(walls) {
        let mut cell = Cell::new(walls);
        let busy = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
        let first = cell.run(1, in_session(shell(busy))).closed;
        let second = cell.run(2, in_session(shell("true"))).closed;
        let total = |closed: &exec_wire::Closed| closed.user_us + closed.system_us;
        assert!(total(&first) > 3 * total(&second), "{first:?} {second:?}");
    }

    fn a_command_with_a_cell_of_its_own_is_refused_in_a_session(walls) {
        let mut cell = Cell::new(walls);
        cell.start(1, in_session(shell("sleep 1000")));
        cell.started(1);
        cell.start(2, shell("true"));
        let (2, Event::Failed(failed)) = cell.next() else { panic!("it must be refused") };
        assert_eq!((failed.stage, failed.errno), (Stage::Refused, libc::EBUSY));
    }

    fn a_missing_program_is_reported(walls) {
        let mut cell = Cell::new(walls);
        cell.start(1, in_session(client::command(&["/no/such"])));
        let (1, Event::Failed(failed)) = cell.next() else { panic!("it can't start") };
        assert_eq!((failed.stage, failed.errno), (Stage::Exec, libc::ENOENT));
        assert_eq!(cell.run(2, in_session(shell("echo on"))).text(), "on\n");
    }

    fn a_flood_does_not_silence_another_command(walls) {
        let mut cell = Cell::new(walls);
        cell.start(1, in_session(client::command(&["yes"])));
        cell.started(1);
        cell.credit(1, u32::MAX);
        cell.start(2, in_session(shell("echo heard")));
        cell.credit(2, 1000);
        let mut heard = Vec::new();
        loop {
            match cell.next() {
                (2, Event::Stdout(bytes)) => heard.extend(bytes),
                (2, Event::Closed(_)) => break,
                (1, Event::Stdout(bytes)) => cell.credit(1, credit_cost(bytes.len() as u32)),
                _ => {}
            }
        }
        assert_eq!(heard, b"heard\n");
    }
}
