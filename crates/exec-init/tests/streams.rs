//! Input, output and terminals: order, flow control, ends.
#![cfg(target_os = "linux")]
#![allow(clippy::panic, reason = "a helper of tests fails like a test")]

mod client;

use std::io::Write;
use std::time::Duration;

use client::{Cell, Event, command, on_tty, read_frame, shell, with_stdin};
use exec_wire::{MIN_CREDIT, PROTOCOL_VERSION, Status, ToCell, WindowSize, credit_cost};

/// Sends bytes as the cell gives credit, and collects the echo.
fn echo(cell: &mut Cell, run: u32, bytes: &[u8]) -> Vec<u8> {
    let (mut rest, mut credit, mut back, mut ended) = (bytes, 0, Vec::new(), false);
    loop {
        while credit > 0 && !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.len().min(credit).min(100_000));
            cell.send(run, &ToCell::Stdin(piece));
            credit -= piece.len();
            rest = after;
        }
        if rest.is_empty() && !ended {
            cell.send(run, &ToCell::StdinEof);
            ended = true;
        }
        match cell.next().1 {
            Event::StdinCredit(more) => credit += more as usize,
            Event::Stdout(piece) => {
                back.extend_from_slice(&piece);
                cell.credit(run, credit_cost(piece.len() as u32));
            }
            Event::Exited(exited) => assert_eq!(exited.status, Status::Code(0)),
            Event::Closed(_) => return back,
            other => panic!("not expected: {other:?}"),
        }
    }
}

in_both_walls! {
    fn input_comes_back_through_cat(walls) {
        let bytes: Vec<u8> = (0..5_000_000_u32).map(|number| (number % 251) as u8).collect();
        let mut cell = Cell::new(walls);
        cell.start(1, with_stdin(command(&["cat"])));
        cell.credit(1, 300_000);
        cell.started(1);
        assert!(echo(&mut cell, 1, &bytes) == bytes);
    }

    fn without_input_there_is_the_end_of_input(walls) {
        assert_eq!(Cell::new(walls).run(1, shell("wc -c")).text().trim(), "0");
    }

    fn a_command_that_does_not_read_costs_no_credit(walls) {
        let mut cell = Cell::new(walls);
        cell.start(1, with_stdin(shell("exec <&-; echo closed; sleep 1000")));
        cell.credit(1, 1000);
        cell.started(1);
        cell.wait_for(1, "closed");
        let piece = vec![0; 200_000];
        for _ in 0..5 {
            cell.send(1, &ToCell::Stdin(&piece));
            assert_eq!(cell.next(), (1, Event::StdinCredit(200_000)));
        }
        cell.send(1, &ToCell::Stop { grace_ms: 0 });
        cell.finish(1);
    }

    fn input_beyond_credit_ends_the_cell(walls) {
        let mut cell = Cell::new(walls);
        cell.start(1, with_stdin(shell("sleep 1000")));
        cell.started(1);
        let (1, Event::StdinCredit(window)) = cell.next() else { panic!("credit first") };
        let piece = vec![0; 100_000];
        // The pipe takes some bytes, for which credit comes back; this sends enough to exceed it in any case.
        for _ in 0..=(2 * window as usize / piece.len()) {
            cell.try_send(1, &ToCell::Stdin(&piece));
        }
        assert!(cell.fatal().contains("credit"));
        assert_eq!(cell.wait().code(), Some(1));
    }

    fn no_output_goes_beyond_credit(walls) {
        let mut cell = Cell::new(walls);
        cell.start(1, command(&["yes"]));
        cell.started(1);
        assert_eq!(cell.next_within(Duration::from_millis(200)), None);
        // Less credit than the minimum cost of a piece buys nothing.
        cell.credit(1, 1);
        assert_eq!(cell.next_within(Duration::from_millis(100)), None);
        cell.credit(1, MIN_CREDIT - 1);
        let (1, Event::Stdout(bytes)) = cell.next() else { panic!("output") };
        assert_eq!(bytes.len() as u32, MIN_CREDIT);
        for credit in [1_000, 10_000, 100_000] {
            cell.credit(1, credit);
            let mut got = 0;
            while credit - got >= MIN_CREDIT {
                let (1, Event::Stdout(bytes)) = cell.next() else { panic!("output") };
                got += credit_cost(bytes.len() as u32);
            }
            assert!(got <= credit);
            assert_eq!(cell.next_within(Duration::from_millis(100)), None);
        }
        cell.ping();
        cell.send(1, &ToCell::Stop { grace_ms: 0 });
        loop {
            match cell.next().1 {
                Event::Stdout(_) => {}
                Event::Exited(_) => cell.credit(1, u32::MAX),
                Event::Closed(_) => break,
                other => panic!("not expected: {other:?}"),
            }
        }
    }

    fn credit_used_up_exactly_does_not_delay_the_end(walls) {
        let mut cell = Cell::new(walls);
        let mut start = shell("printf 12345");
        start.limits.drain_ms = 1_000_000;
        cell.start(1, start);
        cell.credit(1, MIN_CREDIT);
        cell.started(1);
        assert_eq!(cell.finish(1).text(), "12345");
    }

    fn a_flood_arrives_whole(walls) {
        let mut cell = Cell::new(walls);
        let script = "seq 1 2000000; seq 1 200000 >&2";
        let outcome = cell.run(1, shell(script));
        let want = |last: u32| (1..=last).flat_map(|number| format!("{number}\n").into_bytes());
        assert!(outcome.stdout.iter().copied().eq(want(2_000_000)));
        assert!(outcome.stderr.iter().copied().eq(want(200_000)));
    }

    fn order_between_the_streams_is_kept_for_a_command_that_waits(walls) {
        let mut cell = Cell::new(walls);
        let script = "for i in 1 2 3; do echo o$i; sleep 0.05; echo e$i >&2; sleep 0.05; done";
        cell.start(1, shell(script));
        cell.credit(1, u32::MAX);
        cell.started(1);
        let mut order = Vec::new();
        loop {
            match cell.next().1 {
                Event::Stdout(bytes) | Event::Stderr(bytes) => order.extend(bytes),
                Event::Closed(_) => break,
                _ => {}
            }
        }
        assert_eq!(order, b"o1\ne1\no2\ne2\no3\ne3\n");
    }

    fn a_command_that_reads_its_own_output_can_not_confuse_the_stream(walls) {
        let mut cell = Cell::new(walls);
        let script = "exec 3</proc/self/fd/1; (cat <&3 >/dev/null) & head -c 20000000 /dev/zero; kill $!";
        cell.start(1, shell(script));
        cell.credit(1, u32::MAX);
        cell.started(1);
        let outcome = cell.finish(1);
        assert!(outcome.stdout.len() <= 20_000_000);
        cell.ping();
    }

    fn a_terminal_is_a_terminal_of_the_right_size(walls) {
        let outcome = Cell::new(walls).run(1, on_tty(shell("test -t 0 && test -t 1 && test -t 2 && stty size && tty </dev/tty"), 33, 101));
        assert!(outcome.text().starts_with("33 101\r\n/dev/"), "{}", outcome.text());
        assert_eq!(outcome.exited.status, Status::Code(0));
    }

    fn a_terminal_can_change_its_size(walls) {
        let mut cell = Cell::new(walls);
        cell.start(1, on_tty(shell("trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.01; done"), 10, 20));
        cell.credit(1, 1000);
        cell.started(1);
        cell.wait_for(1, "ready");
        cell.send(1, &ToCell::Resize(WindowSize { rows: 44, cols: 55 }));
        assert_eq!(cell.finish(1).text(), "44 55\r\n");
    }

    fn the_end_of_input_reaches_a_terminal(walls) {
        for (typed, want) in [("hello\n", "hello\r\nhello\r\n"), ("hello", "hellohello")] {
            let mut cell = Cell::new(walls);
            cell.start(1, on_tty(command(&["cat"]), 10, 20));
            cell.credit(1, 1000);
            cell.started(1);
            cell.send(1, &ToCell::Stdin(typed.as_bytes()));
            cell.send(1, &ToCell::StdinEof);
            assert_eq!(cell.finish(1).text(), want);
        }
    }

    fn a_signal_reaches_the_foreground_of_a_terminal(walls) {
        let mut cell = Cell::new(walls);
        let script = "set -m; sh -c 'trap \"echo front; exit 0\" INT; echo ready; while :; do sleep 0.01; done'; echo back";
        cell.start(1, on_tty(shell(script), 10, 20));
        cell.credit(1, 1000);
        cell.started(1);
        cell.wait_for(1, "ready");
        cell.send(1, &ToCell::Signal(2));
        assert_eq!(cell.finish(1).text(), "front\r\nback\r\n");
    }

    fn a_stop_reaches_a_job_of_a_terminal(walls) {
        let mut cell = Cell::new(walls);
        let script = "trap : HUP TERM; set -m; sh -c 'trap \"echo front; exit 0\" TERM HUP; echo ready; while :; do sleep 0.01; done'; echo back";
        cell.start(1, on_tty(shell(script), 10, 20));
        cell.credit(1, 1000);
        cell.started(1);
        cell.wait_for(1, "ready");
        cell.send(1, &ToCell::Stop { grace_ms: 20_000 });
        assert!(cell.finish(1).text().contains("back"));
    }

    fn a_signal_reaches_the_group(walls) {
        let mut cell = Cell::new(walls);
        cell.start(1, shell("trap 'echo usr1; exit 3' USR1; echo ready; while :; do sleep 0.01; done"));
        cell.credit(1, 1000);
        cell.started(1);
        cell.wait_for(1, "ready");
        cell.send(1, &ToCell::Signal(10));
        let outcome = cell.finish(1);
        assert!(outcome.text().contains("usr1"));
        assert_eq!(outcome.exited.reason, exec_wire::EndReason::Own);
    }
}

#[test]
fn a_socket_serves_as_well_as_a_pipe() {
    let (mut child, mut host) = Cell::on_socket();
    let mut bytes = Vec::new();
    ToCell::Hello { version: PROTOCOL_VERSION }.encode(0, &mut bytes);
    ToCell::Start(Box::new(command(&["head", "-c", "30000000", "/dev/zero"]))).encode(1, &mut bytes);
    ToCell::Credit(u32::MAX).encode(1, &mut bytes);
    host.write_all(&bytes).expect("write");
    let mut got = 0;
    loop {
        match read_frame(&mut host).expect("a frame").1 {
            Event::Stdout(bytes) => got += bytes.len(),
            Event::Closed(_) => break,
            _ => {}
        }
    }
    assert_eq!(got, 30_000_000);
    drop(host);
    assert_eq!(child.wait().expect("wait").code(), Some(0));
}

#[test]
fn a_host_that_only_stops_reading_is_gone_too() {
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_exec-init"))
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("spawn");
    let mut input = child.stdin.take().expect("piped");
    let mut output = child.stdout.take().expect("piped");
    let mut bytes = Vec::new();
    ToCell::Hello { version: PROTOCOL_VERSION }.encode(0, &mut bytes);
    ToCell::Start(Box::new(shell("sleep 1000"))).encode(1, &mut bytes);
    input.write_all(&bytes).expect("write");
    while !matches!(read_frame(&mut output), Some((1, Event::Started(_)))) {}
    drop(output);
    assert_eq!(child.wait().expect("wait").code(), Some(0));
    drop(input);
}
