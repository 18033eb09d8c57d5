//! `agentctl top` on a real screen.

use crate::control::begun;
use crate::figures::TRY;
use crate::support::tmux::Tmux;
use crate::support::{Marker, Place, runs};

const SKIPPED: &str = "skipped: tmux is not installed";

const NARROW: (u16, u16) = (80, 24);
const WIDE: (u16, u16) = (200, 50);

/// `agentctl top` in a shell that prints a line before and after it.
fn top(place: &Place, size: (u16, u16)) -> Option<Tmux> {
    let program = crate::support::program();
    let script = format!("echo before; '{}' top; echo left with $?; exec cat", program.display());
    Tmux::start(place, size, &script)
}

/// R90: every required figure is on the screen at either size, and the screen is restored at the end.
#[test]
fn it_shows_what_runs_at_both_sizes() {
    for size in [NARROW, WIDE] {
        let (place, marker) = (Place::new(), Marker::new());
        let Some(terminal) = top(&place, size) else {
            println!("{SKIPPED}");
            return;
        };
        terminal.expect_line(&["nothing runs"]);
        let script = format!("{TRY} >/dev/null; echo up; exec sleep {marker}");
        let mut run = crate::figures::begun(&place, &[], &script, &["up"]);
        let name = runs(&place).remove(0);

        let row = terminal.expect_line(&[&name, "local", "bash -c export LC"]);
        let screen = terminal.screen();
        let denied = screen[1].chars().count() - screen[1].split("DENIED").nth(1).unwrap().chars().count();
        let figure: String = row.chars().skip(denied - "DENIED".len()).take("DENIED".len()).collect();
        assert_eq!(figure.trim(), "3", "denials: {row}");
        assert_eq!(screen.len(), usize::from(size.1), "{screen:?}");
        for head in ["RUN", "SANDBOX", "CPU%▼", "MEM", "PIDS", "DENIED", "AGE", "COMMAND"] {
            assert!(screen[1].contains(head), "{head}: {}", screen[1]);
        }
        let last = screen.last().unwrap();
        assert!(last.contains("sort: cpu mem pids denied age name") && last.ends_with("quit"), "{last}");
        assert_eq!(screen[1].contains("OWNER"), size == WIDE, "{}", screen[1]);

        terminal.press(&["q"]);
        let screen = terminal.expect("it should be left", |screen| screen[1] == "left with 0");
        assert_eq!(screen[0], "before", "{screen:?}");
        run.send(rustix::process::Signal::KILL);
        run.wait();
    }
}

/// R90: sorting, selecting, and killing the selected run only.
#[test]
fn it_is_driven_by_keys() {
    let (place, one, other) = (Place::new(), Marker::new(), Marker::new());
    let Some(terminal) = top(&place, NARROW) else {
        println!("{SKIPPED}");
        return;
    };
    let mut first = begun(&place, &one);
    let older = runs(&place).remove(0);
    let mut second = begun(&place, &other);
    let younger = runs(&place).into_iter().find(|name| *name != older).unwrap();
    terminal.expect_line(&["2 shown"]);
    let sorted = |head: &str, top: &str, bottom: &str| {
        let lines = [head.to_owned(), top.to_owned(), bottom.to_owned()];
        terminal.expect(&format!("sorted as {lines:?}"), |screen| {
            screen[1..].iter().zip(&lines).all(|(line, part)| line.contains(part))
        });
    };
    terminal.press(&["a"]);
    sorted("AGE▼", &older, &younger);
    terminal.press(&["r"]);
    sorted("AGE▲", &younger, &older);

    terminal.press(&["Down"]);
    terminal.expect_line(&[&older, "owner"]);
    terminal.press(&["k"]);
    terminal.expect_line(&["kill", &older, "y kills"]);
    terminal.press(&["n"]);
    terminal.expect_line(&["quit"]);
    one.assert_appears();
    terminal.press(&["k", "y"]);
    terminal.expect_line(&[&older, "is gone"]);
    one.assert_gone();
    other.assert_appears();
    terminal.expect_line(&["1 shown"]);
    assert_eq!(first.code(), Some(125));
    second.send(rustix::process::Signal::KILL);
    second.wait();
}

/// R90: a window becomes too small to show anything, and large again.
#[test]
fn it_follows_the_size_of_its_window() {
    let (place, marker) = (Place::new(), Marker::new());
    let Some(terminal) = top(&place, NARROW) else {
        println!("{SKIPPED}");
        return;
    };
    let mut run = begun(&place, &marker);
    let name = runs(&place).remove(0);
    terminal.expect_line(&[&name, "local"]);
    terminal.resize((12, 3));
    terminal
        .expect("it should be small", |screen| screen.len() == 3 && screen[0].starts_with("agentctl top"));
    terminal.resize(WIDE);
    terminal.expect_line(&["OWNER", "COMMAND"]);
    terminal.expect_line(&[&name, "local", &run.pid().to_string()]);
    terminal.press(&["C-c"]);
    terminal.expect_line(&["left with 0"]);
    run.send(rustix::process::Signal::KILL);
    run.wait();
}
