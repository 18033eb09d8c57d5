//! A program that ends with its host, and not before.
#![cfg(target_os = "linux")]
#![expect(clippy::expect_used, reason = "a test that can't continue has failed")]

use std::fs;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

/// Nothing takes this long; it only ends a hanging test.
const LIMIT: Duration = Duration::from_secs(30);

fn tied(script: &str) -> (Child, ChildStdin) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_exec-init"))
        .args(["tied", "sh", "-c", script])
        .stdin(Stdio::piped())
        .spawn()
        .expect("spawn");
    let input = child.stdin.take().expect("piped");
    (child, input)
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + LIMIT;
    while !holds() {
        assert!(Instant::now() < end, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A script that writes its pid to a file and keeps running.
fn started(dir: &tempfile::TempDir, prelude: &str) -> (Child, ChildStdin, Pid) {
    let file = dir.path().join("pid");
    let script =
        format!("{prelude} echo $$ > {0}.new; mv {0}.new {0}; while :; do sleep 0.05; done", file.display());
    let (child, input) = tied(&script);
    until("the program runs", || file.exists());
    let text = fs::read_to_string(&file).expect("a number");
    let pid = Pid::from_raw(text.trim().parse().expect("a number")).expect("a process");
    (child, input, pid)
}

fn is_alive(pid: Pid) -> bool {
    test_kill_process(pid).is_ok()
}

/// R11
#[test]
fn the_end_of_the_pipe_is_the_end_of_the_program() {
    let dir = tempfile::tempdir().expect("a directory");
    let (mut child, input, program) = started(&dir, "");
    assert!(is_alive(program), "the control");
    drop(input);
    assert_eq!(child.wait().expect("wait").code(), Some(0));
    assert!(!is_alive(program));
}

/// R11: a program that ignores SIGTERM is killed.
#[test]
fn a_program_that_ignores_the_request_is_killed() {
    let dir = tempfile::tempdir().expect("a directory");
    let (mut child, input, program) = started(&dir, "trap '' TERM;");
    drop(input);
    assert_eq!(child.wait().expect("wait").code(), Some(0));
    assert!(!is_alive(program));
}

/// R11: the kernel takes over if the helper itself is killed.
#[test]
fn without_the_helper_it_ends_too() {
    let dir = tempfile::tempdir().expect("a directory");
    let (mut child, _input, program) = started(&dir, "");
    let helper = Pid::from_raw(child.id().cast_signed()).expect("a process");
    kill_process(helper, Signal::KILL).expect("kill");
    child.wait().expect("wait");
    until("the program ended", || !is_alive(program));
}

/// R11: a program that continues in a child, as rootless Podman does, and passes no signals on to it.
#[test]
fn a_program_that_executed_itself_anew_ends_too() {
    let dir = tempfile::tempdir().expect("a directory");
    let in_dir = |name: &str| dir.path().join(name);
    let said = |name: &str| {
        until("it runs", || in_dir(name).exists());
        let text = fs::read_to_string(in_dir(name)).expect("a number");
        Pid::from_raw(text.trim().parse().expect("a number")).expect("a process")
    };
    let say =
        |pid: &str, name: &str| format!("echo {pid} > {0}.new; mv {0}.new {0};", in_dir(name).display());
    let (other, anew, script) = (say("$!", "other"), say("$$", "anew"), in_dir("script"));
    let text = format!(
        "[ \"$ANEW\" ] || {{ sleep 1000 & {other} ANEW=1 sh {} & wait; }}\n{anew} while :; do sleep 0.05; done",
        script.display()
    );
    fs::write(&script, text).expect("a script");
    let mut child = Command::new(env!("CARGO_BIN_EXE_exec-init"))
        .args(["tied", "sh"])
        .arg(&script)
        .stdin(Stdio::piped())
        .spawn()
        .expect("spawn");
    let (anew, other) = (said("anew"), said("other"));
    drop(child.stdin.take());
    assert_eq!(child.wait().expect("wait").code(), Some(0));
    until("it ended", || !is_alive(anew));
    assert!(is_alive(other), "its other children are not ours to end");
    kill_process(other, Signal::KILL).expect("kill");
}

#[test]
fn the_programs_own_end_is_reported() {
    let (mut child, _input) = tied("exit 3");
    assert_eq!(child.wait().expect("wait").code(), Some(1));
}
