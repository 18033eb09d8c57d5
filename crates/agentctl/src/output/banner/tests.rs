//! The messages, word by word.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use exec_core::{EngineInfo, Limit, Limits};

use super::super::line::Voice;
use super::*;

/// The default limits, except one that depends on the machine.
fn opts() -> ExecOpts {
    let limits = Limits { cpus: Limit::Exactly("0.5".parse().unwrap()), ..Limits::default() };
    ExecOpts::default().with_limits(limits)
}

fn capabilities(level: IsolationLevel, engine: Option<EngineInfo>) -> Capabilities {
    Capabilities {
        level,
        claims: BTreeSet::new(),
        tty: true,
        sessions: true,
        images: engine.is_some(),
        engine,
        exceptions: BTreeSet::new(),
    }
}

fn docker() -> Capabilities {
    let engine = EngineInfo {
        make: "Docker".into(),
        version: "20.10.24".into(),
        at: "unix:///var/run/docker.sock".into(),
    };
    capabilities(IsolationLevel::Container, Some(engine))
}

fn local() -> Capabilities {
    capabilities(IsolationLevel::Namespaces, None)
}

fn missing(name: &str) -> PassedOver {
    PassedOver {
        name: name.into(),
        because: Because::Missing,
        reason: format!("nothing listens where {name} should be (at: unix:///x)"),
        remedy: format!("start {name}").into(),
    }
}

fn ruled_out(name: &str) -> PassedOver {
    PassedOver {
        name: name.into(),
        because: Because::RuledOut,
        reason: "ENABLE_DOCKER=false".into(),
        remedy: "".into(),
    }
}

fn selection(name: &str, passed_over: Vec<PassedOver>) -> Selection {
    let requested = if passed_over.is_empty() { name } else { "auto" };
    Selection { requested: requested.into(), name: name.into(), passed_over, overruled: None }
}

fn shown(lines: &[Line], voice: Voice) -> String {
    let lines: Vec<String> = lines.iter().map(|line| voice.render(line, SystemTime::UNIX_EPOCH)).collect();
    lines.join("\n")
}

/// R64
#[test]
fn the_banner_fits_a_line() {
    insta::assert_snapshot!(place("docker", &docker(), &opts()), @"docker 20.10.24, isolation container, image host, network none, 2 GiB, cpus 0.5, 5m");
    insta::assert_snapshot!(place("local", &local(), &opts()), @"local, isolation namespaces, network none, 2 GiB, cpus 0.5, 5m");
    insta::assert_snapshot!(place_in_full("docker", &docker(), &opts(), Path::new("/tmp")), @"docker (Docker 20.10.24 at unix:///var/run/docker.sock), isolation container, image host, network none, memory 2 GiB, cpus 0.5, processes 1024, time 5m, workspace /tmp");
}

/// R62, R64
#[test]
fn a_fallback_is_one_paragraph_with_the_fix() {
    let one = warnings(&local(), &selection("local", vec![missing("docker")]), None);
    insta::assert_snapshot!(shown(&one, Voice::Person), @"agentctl: WARN docker is not used: nothing listens where docker should be (at: unix:///x). The command runs in `local` (isolation namespaces) instead. To use docker: start docker. --no-fallback refuses this fallback, --sandbox local accepts it without a warning.");
    let two = warnings(&local(), &selection("local", vec![missing("docker"), missing("podman")]), None);
    insta::assert_snapshot!(shown(&two, Voice::Person), @"agentctl: WARN docker is not used: nothing listens where docker should be (at: unix:///x). podman is not used: nothing listens where podman should be (at: unix:///x). The command runs in `local` (isolation namespaces) instead. To use docker: start docker. --no-fallback refuses this fallback, --sandbox local accepts it without a warning.");
}

/// R63: a configured choice is not a fallback, and is still reported: no silent downgrade.
#[test]
fn a_configured_choice_is_reported() {
    let ordered =
        warnings(&local(), &selection("local", vec![ruled_out("docker"), ruled_out("podman")]), None);
    insta::assert_snapshot!(shown(&ordered, Voice::Person), @"agentctl: WARN containers are ruled out by ENABLE_DOCKER=false: the command runs in `local` (isolation namespaces). --sandbox docker is stronger, --sandbox local accepts this one without a warning.");
    let overruled =
        Selection { overruled: Some("ENABLE_DOCKER=false".into()), ..selection("docker", vec![]) };
    insta::assert_snapshot!(shown(&warnings(&docker(), &overruled, None), Voice::Person), @"agentctl: WARN ENABLE_DOCKER=false is overruled: docker was requested by name");
}

#[test]
fn weak_walls_are_named() {
    let weak = capabilities(IsolationLevel::Subreaper, None);
    insta::assert_snapshot!(shown(&warnings(&weak, &selection("local", vec![]), None), Voice::Person), @"agentctl: WARN weak isolation (subreaper): no namespaces; --min-isolation namespaces refuses it, --quiet hides this warning");
    let ban = Some(NamespaceBan::NotForOrdinaryUsers);
    insta::assert_snapshot!(shown(&warnings(&weak, &selection("local", vec![]), ban), Voice::Person), @"agentctl: WARN weak isolation (subreaper): no namespaces (kernel.unprivileged_userns_clone=0 forbids them; to allow them: sudo sysctl -w kernel.unprivileged_userns_clone=1); --min-isolation namespaces refuses it, --quiet hides this warning");
    assert!(warnings(&local(), &selection("local", vec![]), ban).is_empty());
}

/// R64: the lines required for workers.
#[test]
fn a_workers_log() {
    let log = |name: &str, has: &Capabilities, selection: &Selection| {
        shown(&worker_lines(name, has, selection, &opts(), Path::new("/tmp")), Voice::Worker)
    };
    insta::assert_snapshot!(log("docker", &docker(), &selection("docker", vec![])), @r"
    1970-01-01T00:00:00.000Z INFO Docker isolation ENABLED (Docker 20.10.24, image host)
    1970-01-01T00:00:00.000Z INFO Execution context: docker (Docker 20.10.24 at unix:///var/run/docker.sock), isolation container, image host, network none, memory 2 GiB, cpus 0.5, processes 1024, time 5m, workspace /tmp
    ");
    insta::assert_snapshot!(log("local", &local(), &selection("local", vec![ruled_out("docker")])), @r"
    1970-01-01T00:00:00.000Z WARN Docker isolation DISABLED (ENABLE_DOCKER=false)
    1970-01-01T00:00:00.000Z INFO Execution context: local, isolation namespaces, network none, memory 2 GiB, cpus 0.5, processes 1024, time 5m, workspace /tmp
    ");
    insta::assert_snapshot!(log("local", &local(), &selection("local", vec![missing("docker")])), @r"
    1970-01-01T00:00:00.000Z WARN Docker isolation DISABLED (nothing listens where docker should be (at: unix:///x)); try: start docker
    1970-01-01T00:00:00.000Z INFO Execution context: local, isolation namespaces, network none, memory 2 GiB, cpus 0.5, processes 1024, time 5m, workspace /tmp
    ");
    insta::assert_snapshot!(log("local", &local(), &selection("local", vec![])), @r"
    1970-01-01T00:00:00.000Z WARN Docker isolation DISABLED (`local` was requested)
    1970-01-01T00:00:00.000Z INFO Execution context: local, isolation namespaces, network none, memory 2 GiB, cpus 0.5, processes 1024, time 5m, workspace /tmp
    ");
}

/// R60
#[test]
fn evidence_has_a_line_for_each_candidate() {
    let found = [
        Found::Missing { reason: "no socket".into(), remedy: "".into() },
        Found::Works { isolation: IsolationLevel::Namespaces, engine: None },
        Found::NotTried,
    ];
    let found = found.map(|found| Evidence { executor: "x".into(), found, took: Duration::from_millis(12) });
    insta::assert_snapshot!(shown(&evidence(&found), Voice::Person), @r"
    agentctl: looked for x: no socket (12 ms)
    agentctl: looked for x: works, isolation namespaces (12 ms)
    ");
}
