//! The audit log as it is on disk after real runs.

use std::collections::BTreeSet;
use std::process::Stdio;

use serde_json::Value;

use crate::support::{Place, wait};

fn lines(place: &Place) -> Vec<Value> {
    let log = std::fs::read_to_string(place.user().join("agentctl/audit.jsonl")).unwrap();
    log.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|why| panic!("{why}: {line}"))).collect()
}

fn of<'a>(lines: &'a [Value], event: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["event"] == event).collect()
}

/// R91
#[test]
fn a_run_is_two_lines() {
    let place = Place::new();
    let limit = ["--memory", "256m", "--best-effort-limits"];
    let command = ["--", "sh", "-c", "echo hello; exit 3"];
    place.output(["run", "--quiet"].iter().chain(&limit).chain(&command));
    let lines = lines(&place);
    assert_eq!(lines.len(), 2, "{lines:?}");
    let (start, end) = (&lines[0], &lines[1]);
    assert_eq!((start["event"].as_str(), end["event"].as_str()), (Some("start"), Some("end")));
    assert_eq!(start["run"], end["run"]);
    assert_eq!((start["argv"][0].as_str(), start["executor"].as_str()), (Some("sh"), Some("local")));
    assert_eq!(start["cwd"], place.path().canonicalize().unwrap().to_str().unwrap());
    assert!(start["limits"].to_string().contains("256 MiB"), "{start}");
    assert_eq!((end["ended"].as_str(), end["exit_code"].as_i64()), (Some("exited"), Some(3)));
    assert_eq!((end["stdout_bytes"].as_u64(), end["stderr_bytes"].as_u64()), (Some(6), Some(0)));
}

/// R91: neither output nor arguments make lines.
#[test]
fn nothing_a_command_says_is_a_line() {
    let place = Place::new();
    let forged = "x\n{\"event\":\"end\",\"run\":\"forged\"}\n";
    place.output(["run", "--quiet", "--", "printf", "%s", forged]);
    let lines = lines(&place);
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines.iter().all(|line| line["run"] != "forged"));
    assert_eq!(lines[0]["argv"][2], forged, "and they are kept as they are");
}

/// R91: what could not be started has its lines too.
#[test]
fn a_start_that_fails_is_closed() {
    let place = Place::new();
    place.output(["run", "--quiet", "--", "no-such-program"]);
    let lines = lines(&place);
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[1]["error"].as_str().unwrap().contains("no-such-program"), "{lines:?}");
}

/// R91: sixteen processes at once, and no line is torn.
#[test]
fn many_writers_make_whole_lines() {
    let place = Place::new();
    let long = "x".repeat(3000);
    let start = |_| {
        let mut command = place.agentctl(["run", "--quiet", "--", "true", &long]);
        command.stdout(Stdio::null()).spawn().unwrap()
    };
    let mut children: Vec<_> = (0..16).map(start).collect();
    for child in &mut children {
        assert!(wait(child).success());
    }
    let lines = lines(&place);
    let runs: BTreeSet<_> = lines.iter().map(|line| line["run"].to_string()).collect();
    assert_eq!((runs.len(), of(&lines, "start").len(), of(&lines, "end").len()), (16, 16, 16));
}
