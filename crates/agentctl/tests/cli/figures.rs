//! Resource usage as `ps` and `health` report it.

use exec_core::Cmd;
use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Marker, Place, Run, ps};

/// How often [`attempts`] tries.
pub(crate) const ATTEMPTS: u64 = 3;

/// Tries to reach an unused address, and prints how often the kernel had no route.
pub(crate) const TRY: &str = "export LC_ALL=C; for n in 1 2 3; do : 3<>/dev/tcp/192.0.2.1/9; done 2>&1 \
    | grep -c 'connect: Network is unreachable'";

/// The same as a command. Of our shells only this one opens connections.
pub(crate) fn attempts() -> Cmd {
    Cmd::new("bash").args(["-c", TRY])
}

/// A run that prints this and keeps running.
pub(crate) fn begun(place: &Place, options: &[&str], script: &str, said: &[&str]) -> Run {
    let command = ["--", "bash", "-c", script];
    let args = ["run", "--quiet"].iter().chain(options).chain(&command);
    let mut run = Run::spawn(&mut place.agentctl(args));
    for line in said {
        run.expect_line(line);
    }
    run
}

fn object(place: &Place, command: &str) -> Value {
    serde_json::from_slice(&place.output([command, "--json"]).stdout).unwrap()
}

fn end(mut run: Run) {
    run.send(Signal::KILL);
    run.wait();
}

/// R90: counts each attempt that found no way out, and nothing else.
#[test]
fn attempts_to_reach_a_network_are_counted() {
    let (place, marker) = (Place::new(), Marker::new());
    let denials = || ps(&place)["cells"][0]["network_denials"].clone();

    let run = begun(&place, &[], &format!("{TRY}; echo up; exec sleep {marker}"), &["3", "up"]);
    assert_eq!(denials(), ATTEMPTS);
    assert_eq!(object(&place, "health")["network_denials"], ATTEMPTS);
    end(run);
}

/// R90: the control: a run that tries nothing, not even on its own loopback.
#[test]
fn a_run_that_tries_nothing_was_denied_nothing() {
    let (place, marker) = (Place::new(), Marker::new());
    let script = format!(": 3<>/dev/tcp/127.0.0.1/9; echo up; exec sleep {marker}");
    let run = begun(&place, &[], &format!("({script}) 2>/dev/null"), &["up"]);
    assert_eq!(ps(&place)["cells"][0]["network_denials"], 0);
    end(run);
}

/// R90: failures of the machine as a whole do not belong to one run.
#[test]
fn with_the_machines_network_denials_are_unknown() {
    let (place, marker) = (Place::new(), Marker::new());
    let script = format!("echo up; exec sleep {marker}");
    let run = begun(&place, &["--network", "host"], &script, &["up"]);
    let seen = ps(&place);
    assert_eq!(seen["cells"][0]["runs"].as_array().map(Vec::len), Some(1), "{seen}");
    assert_eq!(seen["cells"][0]["network_denials"], Value::Null);
    assert_eq!(object(&place, "health")["network_denials"], Value::Null);
    end(run);
}

/// R90: memory of a cell may belong to no single process; its control group, if it has one, counts it.
#[test]
fn memory_is_what_the_control_group_is_charged_with() {
    const KEPT: u64 = 32 << 20;
    let (place, marker) = (Place::new(), Marker::new());
    let (control, _) = place.json(&[], &["true"]);
    let claims = control["isolation"]["claims"].as_array().unwrap();
    let script = format!("head -c {KEPT} /dev/zero > /tmp/kept; echo up; exec sleep {marker}");
    let run = begun(&place, &[], &script, &["up"]);
    let used = ps(&place)["cells"][0]["memory_bytes"].as_u64().unwrap();
    if claims.contains(&"memory_limit".into()) {
        assert!(used >= KEPT, "{used}");
    } else {
        assert!(used > 0 && used < KEPT, "without a group only the processes count: {used}");
    }
    end(run);
}
