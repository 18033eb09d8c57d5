//! `--json`: one object in every case.

use rstest::rstest;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Place, Run};

/// R3, R4: `ended` distinguishes what exit statuses can't.
#[rstest]
#[case::exited(&[], "exit 3", "exited", json!(3), json!(null), 3)]
#[case::own_124(&[], "exit 124", "exited", json!(124), json!(null), 124)]
#[case::own_125(&[], "exit 125", "exited", json!(125), json!(null), 125)]
#[case::own_137(&[], "exit 137", "exited", json!(137), json!(null), 137)]
#[case::signalled(&[], "kill -SEGV $$", "signalled", json!(null), json!("SIGSEGV"), 139)]
#[case::timed_out(&["--timeout", "200ms"], "exec sleep 60", "timed_out", json!(null), json!("SIGTERM"), 124)]
#[case::output_limit(&["--max-output", "10"], "exec cat /dev/zero", "output_limit", json!(null), json!("SIGKILL"), 153)]
fn endings(
    #[case] options: &[&str],
    #[case] script: &str,
    #[case] ended: &str,
    #[case] exit_code: Value,
    #[case] signal: Value,
    #[case] code: i32,
) {
    let (object, status) = Place::new().json(options, &["sh", "-c", script]);
    assert_eq!(object["ended"], ended, "{object}");
    assert_eq!(object["exit_code"], exit_code, "{object}");
    if signal.is_null() || ended == "signalled" {
        assert_eq!(object["signal"], signal, "{object}");
    }
    assert_eq!(status, Some(code));
}

/// R12: the object is printed even when the run is stopped from outside.
#[test]
fn cancelled() {
    let place = Place::new();
    let ready = place.path().join("ready");
    let script = "echo kept; touch ready; exec sleep 60";
    let mut run = Run::spawn(&mut place.agentctl(["run", "--json", "--", "sh", "-c", script]));
    assert!(crate::support::eventually(crate::support::OUTER_LIMIT, || ready.exists()));
    run.send(Signal::TERM);
    let object: Value = serde_json::from_reader(run.stdout()).unwrap();
    assert_eq!((&object["ended"], &object["stdout"]), (&json!("cancelled"), &json!("kept\n")));
    assert_eq!(run.code(), Some(130));
}

/// R41, R42: if memory can be limited as a whole, the result names that limit; otherwise the limit is
/// refused.
#[test]
fn out_of_memory() {
    let place = Place::new();
    let (object, status) = place.json(&["--memory", "64m"], &["tail", "/dev/zero"]);
    let (control, _) = place.json(&[], &["true"]);
    let claims = control["isolation"]["claims"].as_array().unwrap();
    if claims.contains(&json!("memory_limit")) {
        assert_eq!((&object["ended"], status), (&json!("out_of_memory"), Some(137)), "{object}");
        assert_eq!(object["limits_hit"][0]["limit"], "memory");
        assert_eq!(object["limits_hit"][0]["remedy"], "raise --memory");
    } else {
        assert_eq!((&object["error"]["kind"], status), (&json!("limit_not_enforced"), Some(125)), "{object}");
    }
}

/// The fields of the object are an interface.
#[test]
fn the_fields_are_stable() {
    let (object, _) = Place::new().json(&[], &["sh", "-c", "echo out; echo err >&2"]);
    let names: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    insta::assert_snapshot!(names.join(" "), @"denials duration_ms ended executor exit_code isolation limits_hit reopened selection signal stderr stderr_omitted stdout stdout_omitted survivors usage warnings");
    assert_eq!((&object["stdout"], &object["stderr"]), (&json!("out\n"), &json!("err\n")));
    assert_eq!(object["executor"], "local");
}

/// R3: omitted bytes are counted exactly.
#[test]
fn omitted_bytes_are_counted() {
    let (object, _) = Place::new().json(&["--capture", "1k"], &["head", "-c", "1000000", "/dev/zero"]);
    assert_eq!(object["stdout_omitted"], 1_000_000 - 1024);
    assert_eq!(object["stderr_omitted"], 0);
}

#[rstest]
#[case::not_there(&["run", "--json", "--", "no-such-program"], "program_not_found", 127)]
#[case::no_command(&["run", "--json"], "invalid_input", 125)]
#[case::bad_value(&["run", "--json", "--memory", "x", "--", "true"], "invalid_input", 125)]
#[case::no_engine(&["run", "--json", "--sandbox", "podman", "--", "true"], "unavailable", 125)]
fn errors_are_objects_too(#[case] args: &[&str], #[case] kind: &str, #[case] code: i32) {
    let place = Place::new();
    let output = place.agentctl(args).env("CONTAINER_HOST", "unix:///no/such/engine.sock").output().unwrap();
    let object: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(object["error"]["kind"], kind, "{object}");
    assert!(object["error"]["remedy"].is_string(), "{object}");
    assert_eq!(output.status.code(), Some(code));
    assert!(output.stderr.is_empty());
}
