//! Output and input: complete, in order, without delay, in bounded memory.

use std::io::{Read, Write};
use std::process::Stdio;

use crate::support::{Place, Run, assert_a_gibibyte_passes_in_bounded_memory};

/// R5
#[test]
fn input_reaches_the_command_whole() {
    let place = Place::new();
    let mut run = Run::spawn(place.agentctl(["run", "--", "sha256sum"]).stdin(Stdio::piped()));
    let mut stdin = run.child().stdin.take().unwrap();
    for number in 0..200_000 {
        writeln!(stdin, "{number}").unwrap();
    }
    drop(stdin);
    let mut inside = String::new();
    run.stdout().read_to_string(&mut inside).unwrap();
    assert_eq!(run.code(), Some(0));
    let outside = std::process::Command::new("sh").args(["-c", "seq 0 199999 | sha256sum"]).output().unwrap();
    assert_eq!(inside, String::from_utf8_lossy(&outside.stdout));
}

/// `agentctl` exits without waiting for the end of its input.
#[test]
fn an_endless_input_does_not_delay_the_exit() {
    let place = Place::new();
    let mut run = Run::spawn(place.agentctl(["run", "--", "true"]).stdin(Stdio::piped()));
    let held_open = run.child().stdin.take();
    assert_eq!(run.code(), Some(0));
    drop(held_open);
}

#[test]
fn no_input_is_the_end_of_input() {
    let place = Place::new();
    let mut run = Run::spawn(place.agentctl(["run", "--stdin", "none", "--", "cat"]).stdin(Stdio::piped()));
    let held_open = run.child().stdin.take();
    assert_eq!(run.code(), Some(0));
    drop(held_open);
}

/// R5: output arrives while the command still runs.
#[test]
fn output_comes_as_it_is_written() {
    let place = Place::new();
    let mut run = Run::spawn(
        place.agentctl(["run", "--", "sh", "-c", "echo first; read line; echo $line"]).stdin(Stdio::piped()),
    );
    run.expect_line("first");
    run.child().stdin.as_mut().unwrap().write_all(b"second\n").unwrap();
    run.expect_line("second");
    assert_eq!(run.code(), Some(0));
}

#[test]
fn streams_stay_apart_and_bytes_stay_bytes() {
    let output = Place::new().output([
        "run",
        "--quiet",
        "--",
        "sh",
        "-c",
        r"printf '\000\377\033[2J'; printf err >&2",
    ]);
    assert_eq!(output.stdout, b"\0\xff\x1b[2J");
    assert_eq!(output.stderr, b"err");
}

/// Both streams in one file: each is complete and in order.
#[test]
fn both_streams_can_go_to_one_place() {
    let place = Place::new();
    let both = place.path().join("both");
    let file = std::fs::File::create(&both).unwrap();
    let script = "for i in 1 2 3 4 5 6 7 8 9; do echo out $i; echo err $i >&2; done";
    let status = place
        .agentctl(["run", "--quiet", "--", "sh", "-c", script])
        .stdout(file.try_clone().unwrap())
        .stderr(file)
        .status();
    assert!(status.unwrap().success());
    let text = std::fs::read_to_string(both).unwrap();
    for stream in ["out", "err"] {
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with(stream)).collect();
        let expected: Vec<String> = (1..10).map(|number| format!("{stream} {number}")).collect();
        assert_eq!(lines, expected);
    }
}

/// A reader that closes the pipe ends the run, quietly.
#[test]
fn a_reader_that_leaves_ends_the_run() {
    let place = Place::new();
    let mut command = place.agentctl(["run", "--", "yes"]);
    let mut run = Run::spawn(command.stderr(Stdio::piped()));
    run.expect_line("y");
    let mut child = run.without_reader();
    let status = crate::support::wait(&mut child);
    assert_eq!(status.code(), Some(141));
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said, "");
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let place = Place::new();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = place.agentctl(["run", "--", "yes"]).stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(125));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("agentctl: can't write the command's output: No space left"), "{said}");
}

/// A35
#[test]
fn arguments_that_look_like_options_are_literal() {
    let place = Place::new();
    let output =
        place.output(["run", "--", "printf", "%s|", "--privileged", "--json", "-v", "--", "a b", ""]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "--privileged|--json|-v|--|a b||");
    let output = place.output(["run", "--quiet", "--", "--privileged"]);
    assert_eq!(output.status.code(), Some(127));
}

/// A33
#[test]
fn variables_are_passed_by_name_only() {
    let place = Place::new();
    let mut command = place.agentctl(["run", "--env", "TOKEN", "--env", "MODE=ci=1", "--", "env"]);
    let output = command.env("TOKEN", "t0k3n").env("SECRET", "hidden").output().unwrap();
    let seen = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(seen.lines().any(|line| line == "TOKEN=t0k3n") && seen.lines().any(|line| line == "MODE=ci=1"));
    assert!(!seen.contains("SECRET"), "{seen}");
}

/// A31: a gibibyte passes through without being stored.
#[test]
fn a_gibibyte_passes_in_bounded_memory() {
    assert_a_gibibyte_passes_in_bounded_memory(&[]);
}
