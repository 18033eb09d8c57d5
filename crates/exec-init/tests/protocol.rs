//! Hosts that violate the protocol.
#![cfg(target_os = "linux")]

mod client;

use client::{Cell, in_session, is_running, shell, unique_seconds, until};
use exec_wire::{HEADER_LEN, Header, PROTOCOL_VERSION, ToCell};

in_both_walls! {
    fn another_version_is_refused(walls) {
        let mut cell = Cell::silent(walls);
        cell.send(0, &ToCell::Hello { version: PROTOCOL_VERSION + 1 });
        assert!(cell.fatal().contains("version"));
        assert_eq!(cell.wait().code(), Some(1));
    }

    fn the_greeting_comes_first(walls) {
        let mut cell = Cell::silent(walls);
        cell.send(0, &ToCell::Ping(1));
        assert!(cell.fatal().contains("greeting"));
        assert_eq!(cell.wait().code(), Some(1));
    }

    fn a_second_greeting_is_refused(walls) {
        let mut cell = Cell::new(walls);
        cell.send(0, &ToCell::Hello { version: PROTOCOL_VERSION });
        assert!(cell.fatal().contains("greeting"));
        assert_eq!(cell.wait().code(), Some(1));
    }

    fn an_unknown_frame_kills_everything(walls) {
        let seconds = unique_seconds();
        let mut cell = Cell::new(walls);
        cell.start(1, shell(&format!("setsid sleep {seconds} & sleep {seconds}")));
        cell.started(1);
        until("it sleeps", || is_running(&seconds));
        cell.send_bytes(&[0x7f; HEADER_LEN]);
        assert!(cell.fatal().contains("unknown frame kind"));
        assert_eq!(cell.wait().code(), Some(1));
        assert!(!is_running(&seconds));
    }

    fn impossible_lengths_are_refused_before_they_arrive(walls) {
        let mut cell = Cell::new(walls);
        cell.send_bytes(&Header { kind: 2, run: 1, len: u32::MAX }.to_bytes());
        assert!(cell.fatal().contains("claims"));
        assert_eq!(cell.wait().code(), Some(1));
    }

    fn nonsense_inside_a_frame_is_refused(walls) {
        let mut cell = Cell::new(walls);
        cell.send_bytes(&Header { kind: 2, run: 1, len: 3 }.to_bytes());
        cell.send_bytes(&[1, 2, 3]);
        cell.fatal();
        assert_eq!(cell.wait().code(), Some(1));
    }

    fn a_number_can_not_be_used_twice(walls) {
        let mut cell = Cell::new(walls);
        cell.start(1, in_session(shell("sleep 1000")));
        cell.started(1);
        cell.start(1, in_session(shell("true")));
        assert!(cell.fatal().contains("taken"));
        assert_eq!(cell.wait().code(), Some(1));
    }

    fn signals_that_do_not_exist_are_refused(walls) {
        let mut cell = Cell::new(walls);
        cell.start(1, shell("sleep 1000"));
        cell.started(1);
        cell.send(1, &ToCell::Signal(65));
        assert!(cell.fatal().contains("signal"));
    }

    fn a_silent_host_counts_as_gone(walls) {
        let mut cell = Cell::silent(walls);
        cell.hang_up();
        assert_eq!(cell.wait().code(), Some(0));
    }

    fn an_unfinished_frame_at_the_end_is_just_the_end(walls) {
        let mut cell = Cell::new(walls);
        cell.send_bytes(&[2, 0, 0]);
        cell.hang_up();
        assert_eq!(cell.wait().code(), Some(0));
    }
}
