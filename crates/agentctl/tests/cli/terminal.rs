//! Terminals: native while the command runs, and restored when it ends.

use rustix::process::{Pid, Signal, kill_process};

use crate::support::Pty;

const LOOP: &str = "while :; do sleep 0.1; done";

fn run(options: &[&str], script: &str) -> Pty {
    let args: Vec<&str> =
        ["run", "--quiet"].iter().chain(options).chain(&["--", "sh", "-c", script]).copied().collect();
    Pty::start(&args)
}

fn send(pty: &mut Pty, signal: Signal) {
    kill_process(Pid::from_child(pty.child()), signal).unwrap();
}

#[test]
fn the_command_has_a_terminal_like_ours() {
    let mut pty = run(&["-t"], "test -t 0 && test -t 1 && test -t 2 && echo $TERM $(stty size); exit 6");
    pty.expect("xterm-256color 50 132");
    assert_eq!(pty.code(), Some(6));
}

#[test]
fn a_new_size_reaches_the_command() {
    let mut pty = run(&["-t"], &format!("trap 'stty size; exit 0' WINCH; echo up; {LOOP}"));
    pty.expect("up");
    pty.resize((33, 77));
    pty.expect("33 77");
    assert_eq!(pty.code(), Some(0));
}

/// R12: with its own terminal, the command gets the key, and its terminal makes the signal.
#[test]
fn control_c_is_the_commands() {
    let mut pty = run(&["-t"], &format!("trap 'echo caught; exit 7' INT; echo up; {LOOP}"));
    pty.expect("up");
    pty.expect_raw();
    pty.press("\x03");
    pty.expect("caught");
    assert_eq!(pty.code(), Some(7));
}

/// R12: without its own terminal, our terminal makes the signal, for everything in its foreground.
#[test]
fn control_c_without_a_terminal_of_its_own() {
    let mut pty = run(&[], &format!("trap 'echo caught; exit 7' INT; echo up; {LOOP}"));
    pty.expect("up");
    pty.press("\x03");
    pty.expect("caught");
    assert_eq!(pty.code(), Some(7));
}

#[test]
fn the_terminal_is_restored_when_the_command_is_killed() {
    let mut pty = run(&["-t"], "echo up; read line; kill -9 $$");
    pty.expect("up");
    pty.expect_raw();
    pty.press("\r");
    assert_eq!(pty.code(), Some(137));
}

#[test]
fn the_terminal_is_restored_when_agentctl_is_terminated() {
    for signal in [Signal::TERM, Signal::HUP] {
        let mut pty = run(&["-t"], "echo up; exec cat");
        pty.expect("up");
        pty.expect_raw();
        send(&mut pty, signal);
        assert_eq!(pty.code(), Some(130), "{signal:?}");
    }
}

/// R90
#[test]
fn the_terminal_is_restored_when_the_live_view_is_terminated() {
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let mut pty = Pty::start(&["top"]);
        pty.expect("agentctl top");
        pty.expect_raw();
        send(&mut pty, signal);
        assert_eq!(pty.code(), Some(130), "{signal:?}");
    }
}

#[test]
fn the_terminal_is_restored_when_the_time_is_up() {
    let mut pty = run(&["-t", "--timeout", "1s"], "echo up; exec cat");
    pty.expect("up");
    assert_eq!(pty.code(), Some(124));
}

#[test]
fn the_terminal_is_left_alone_when_nothing_starts() {
    let mut pty = Pty::start(&["run", "-t", "--", "no-such-program"]);
    assert_eq!(pty.code(), Some(127));
}

/// A stop gives the shell its own modes back; when `agentctl` continues, it sets raw mode again.
#[test]
fn raw_mode_comes_back_after_a_stop() {
    let mut pty = run(&["-t"], "echo up; read line; echo got $line");
    pty.expect("up");
    pty.expect_raw();
    pty.make_cooked();
    send(&mut pty, Signal::CONT);
    pty.expect_raw();
    pty.press("x\r");
    pty.expect("got x");
    assert_eq!(pty.code(), Some(0));
}

/// A34
#[test]
fn escapes_are_shown_and_colours_pass() {
    let printf = r"printf '\033]52;c;eA==\a\033[31mred\033[0m\n'";
    let mut pty = run(&[], printf);
    pty.expect("^[]52;c;eA==^G\x1b[31mred\x1b[0m");
    assert_eq!(pty.code(), Some(0));
    let mut pty = run(&["--raw"], printf);
    pty.expect("\x1b]52;c;eA==\x07\x1b[31mred");
    assert_eq!(pty.code(), Some(0));
}

#[test]
fn our_terminal_is_read_only_on_request() {
    let mut pty = run(&[], "cat; echo end");
    pty.expect("end");
    assert_eq!(pty.code(), Some(0));
}

#[test]
fn a_shell_to_work_in() {
    let mut pty = Pty::start(&["shell"]);
    pty.expect("leave it with `exit` or Ctrl-D");
    pty.expect_raw();
    pty.press("echo $((6 * 7))\r");
    pty.expect("42");
    pty.press("exit 5\r");
    assert_eq!(pty.code(), Some(5));
}

#[test]
fn control_d_leaves_a_shell() {
    let mut pty = Pty::start(&["shell"]);
    pty.expect_raw();
    pty.press("echo $((6 * 7))\r");
    pty.expect("42");
    pty.press("\x04");
    assert_eq!(pty.code(), Some(0));
}

/// Job control works as in any shell: the command has a controlling terminal and is in its foreground.
#[test]
fn a_shell_has_job_control() {
    let mut pty = Pty::start(&["shell"]);
    pty.expect_raw();
    pty.press("set -m && echo jobs $((1 + 1))\r");
    pty.expect("jobs 2");
    // Printed by the foreground process, not by the shell: a key pressed while the shell still starts that
    // process is lost.
    pty.press("sh -c 'echo in $((1 + 2)); exec cat'\r");
    pty.expect("in 3");
    pty.press("\x03");
    // Keys pressed before the prompt is back may be read by the process that is about to end.
    pty.expect_prompt();
    pty.press("echo back $((2 + 2))\r");
    pty.expect("back 4");
    pty.press("exit\r");
    pty.code();
}
