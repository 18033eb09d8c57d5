//! `auto` without a usable engine: a local run with a warning, or a refusal, and both name the fix.

use std::os::unix::net::UnixListener;
use std::process::{Command, Output};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{LOCAL, Place, Run};

const FIX: &str = "start the engine that should be there";

/// `agentctl run` with these variables, which decide where engines are searched for.
fn command(place: &Place, engine: &str, options: &[&str]) -> Command {
    let mut command = place.agentctl(["run"].iter().chain(options).chain(&["--", "echo", "ran"]));
    command.env_remove(LOCAL.0).env("DOCKER_HOST", engine).env("CONTAINER_HOST", engine);
    command
}

fn without_engine(options: &[&str]) -> Output {
    command(&Place::new(), "unix:///no/such/engine.sock", options).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// R62: the first command of the README works on a machine without an engine.
#[test]
fn it_runs_locally_with_one_paragraph_that_has_the_fix() {
    let output = without_engine(&[]);
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(0), &b"ran\n"[..]), "{output:?}");
    let said = said(&output);
    let warning: Vec<&str> = said.lines().filter(|line| line.contains("is not used")).collect();
    let [warning] = warning.as_slice() else { panic!("one paragraph: {said}") };
    assert!(warning.starts_with("agentctl: WARN docker is not used: "), "{said}");
    for word in ["/no/such/engine.sock", "DOCKER_HOST", FIX, "`local`", "--no-fallback", "--sandbox local"] {
        assert!(warning.contains(word), "{word} in {said}");
    }
}

/// R62, R3
#[test]
fn the_object_reports_it_too() {
    let output = without_engine(&["--json"]);
    let object: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&object["executor"], &object["stdout"]), (&json!("local"), &json!("ran\n")), "{object}");
    let selection = &object["selection"];
    assert_eq!((&selection["requested"], &selection["chosen"]), (&json!("auto"), &json!("local")));
    let docker = &selection["passed_over"][0];
    assert_eq!((&docker["executor"], &docker["because"]), (&json!("docker"), &json!("missing")), "{object}");
    assert!(docker["remedy"].as_str().unwrap().contains(FIX), "{object}");
    assert!(output.stderr.is_empty(), "{output:?}");
}

/// R62
#[test]
fn without_fallback_or_by_name_it_is_refused_with_the_same_fix() {
    for options in [&["--no-fallback"][..], &["--sandbox", "docker"], &["--min-isolation", "container"]] {
        let output = without_engine(options);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(125), 0), "{options:?}: {output:?}");
        let said = said(&output);
        assert!(said.contains("/no/such/engine.sock") && said.contains(FIX), "{options:?}: {said}");
    }
}

/// R62: a requested image is never dropped just so that the command can run.
#[test]
fn an_image_is_not_dropped() {
    let output = without_engine(&["--image", "debian"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(125), 0), "{output:?}");
    let said = said(&output);
    assert!(said.contains("no images to find `debian` in") && said.contains(FIX), "{said}");
}

/// R64: the lines required for workers, each with its time.
#[test]
fn a_workers_log_reports_what_is_disabled() {
    let output = without_engine(&["--log", "worker"]);
    let said = said(&output);
    let lines: Vec<&str> =
        said.lines().filter_map(|line| line.split_once("Z ")).map(|(_, rest)| rest).collect();
    assert_eq!(lines.len(), said.lines().count(), "{said}");
    assert!(lines[0].starts_with("WARN Docker isolation DISABLED ("), "{said}");
    assert!(lines.iter().any(|line| line.starts_with("INFO Execution context: local, isolation ")), "{said}");
}

/// An engine that accepts connections and never answers.
fn hung_engine(place: &Place) -> (UnixListener, String) {
    let path = place.user().join("engine.sock");
    (UnixListener::bind(&path).unwrap(), format!("unix://{}", path.display()))
}

/// R60, F5: an engine that hangs costs its time-out, not the run.
#[test]
fn an_engine_that_hangs_is_passed_over() {
    let place = Place::new();
    let (_engine, address) = hung_engine(&place);
    let output = command(&place, &address, &[]).output().unwrap();
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(0), &b"ran\n"[..]), "{output:?}");
    assert!(said(&output).contains("does not answer in time"), "{output:?}");
}

/// R12: a user who interrupts the search for an engine does not wait for that engine.
#[test]
fn a_search_can_be_ended() {
    let place = Place::new();
    let (engine, address) = hung_engine(&place);
    for signal in [Signal::INT, Signal::TERM] {
        let mut run = Run::spawn(&mut command(&place, &address, &["--sandbox", "docker"]));
        let (_connection, _) = engine.accept().unwrap();
        let begun = std::time::Instant::now();
        run.send(signal);
        assert_eq!(run.code(), Some(130), "{signal:?}");
        assert!(begun.elapsed() < Duration::from_secs(4), "it waited for the engine");
    }
}
