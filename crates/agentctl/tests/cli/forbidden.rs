//! A host that forbids namespaces, simulated with a user namespace in which no other can be made: a run gets
//! weaker walls and reports them, or is refused if it asked for stronger ones.

use std::process::{Command, Output};

use serde_json::Value;

use crate::support::{Place, program};

const FORBID: &str = "echo 0 > /proc/sys/user/max_user_namespaces";

/// `agentctl run` in its own user namespace, after a line of shell there.
fn after(place: &Place, first: &str, options: &[&str]) -> Output {
    let script = format!("{first} && exec \"$@\"");
    let mut command = Command::new("unshare");
    command.args(["-Ur", "sh", "-c", &script, "sh"]).arg(program()).args([
        "run",
        "--json",
        "--sandbox",
        "local",
    ]);
    command.args(options).args(["--", "echo", "hello"]).current_dir(place.path()).output().unwrap()
}

fn object(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// The control: a user namespace alone, as in a rootless container, does not prevent a run.
#[test]
fn a_user_namespace_alone_is_fine() {
    let output = after(&Place::new(), "true", &[]);
    assert_eq!(object(&output)["isolation"]["level"], "namespaces", "{output:?}");
    assert_eq!(object(&output)["stdout"], "hello\n");
}

/// R62, R41: it runs with a subreaper, and reports so.
#[test]
fn without_namespaces_a_subreaper_is_used_and_reported() {
    let output = after(&Place::new(), FORBID, &[]);
    let report = object(&output);
    assert_eq!((output.status.code(), &report["stdout"]), (Some(0), &Value::from("hello\n")));
    assert_eq!(report["isolation"]["level"], "subreaper");
    let degraded = report["isolation"]["degraded"].as_array().unwrap();
    assert!(degraded.iter().any(|gap| gap.as_str().unwrap().contains("no namespaces")), "{degraded:?}");
}

/// A property requested by name holds, or is refused with the remedy.
#[test]
fn properties_requested_by_name_are_refused() {
    for options in
        [&["--min-isolation", "namespaces"][..], &["--walls", "namespaces"], &["--network", "none"]]
    {
        let output = after(&Place::new(), FORBID, options);
        assert_eq!(output.status.code(), Some(125), "{options:?}: {output:?}");
        assert!(object(&output)["error"]["remedy"].is_string(), "{options:?}: {output:?}");
    }
}
