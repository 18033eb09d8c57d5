//! Seeing and stopping runs from outside: `ps`, `stop`, `kill`, `rm`, `health`, `gc`. Each test has its own
//! state directory, so that `--all` means the test's own runs.

use rustix::process::Signal;
use serde_json::Value;

use crate::support::fuse::{FILE, Hung};
use crate::support::{Marker, OUTER_LIMIT, Place, Run, eventually, ps, runs, said};

/// A run with its own daemon that keeps running.
pub(crate) fn begun(place: &Place, marker: &Marker) -> Run {
    let mut run = place.shell(&[], &format!("{}; echo up; exec sleep {marker}", marker.daemon()));
    run.expect_line("up");
    marker.assert_appears();
    run
}

/// R90, R91: any process of the user can list running commands, without their secrets.
#[test]
fn a_run_is_seen_from_outside() {
    let (place, marker) = (Place::new(), Marker::new());
    let mut command = place.agentctl(["run", "--quiet", "--env", "MY_TOKEN=s3cr3t-value", "--", "sh", "-c"]);
    command.arg(format!("echo up; : --password=hunter22 s3cr3t-value; exec sleep {marker}"));
    let mut run = Run::spawn(&mut command);
    run.expect_line("up");
    let object = ps(&place);
    let cell = &object["cells"][0];
    assert_eq!(cell["executor"], "local");
    assert_eq!(cell["owner_pid"], run.pid());
    assert_eq!(cell["owner_state"], "alive");
    assert!(cell["processes"].as_u64().unwrap() >= 3, "{cell}");
    let argv = cell["runs"][0]["argv"].to_string();
    assert!(argv.contains("[redacted]") && !argv.contains("hunter22") && !argv.contains("s3cr3t"), "{argv}");
    let table = said(&place.output(["ps"]));
    assert!(table.starts_with("RUN") && table.contains(&runs(&place)[0]), "{table}");
    run.send(Signal::TERM);
    run.wait();
    assert!(runs(&place).is_empty());
    assert!(said(&place.output(["ps"])).contains("nothing runs"));
}

/// R13
#[test]
fn kill_ends_a_run_and_its_owner_reports_why() {
    let (place, one, other) = (Place::new(), Marker::new(), Marker::new());
    let mut command = place.agentctl(["run", "--", "sh", "-c"]);
    command.arg(format!("{}; echo up; exec sleep {one}", one.daemon())).stderr(std::process::Stdio::piped());
    let mut run = Run::spawn(&mut command);
    run.expect_line("up");
    one.assert_appears();
    let name = runs(&place).remove(0);
    let mut left = begun(&place, &other);
    let output = place.output(["kill", &name]);
    assert!(output.status.success(), "{}", said(&output));
    one.assert_gone();
    assert!(said(&output).contains(&format!("ended {name} (local)")), "{}", said(&output));
    assert_eq!(run.code(), Some(125));
    let mut why = String::new();
    std::io::Read::read_to_string(&mut run.child().stderr.take().unwrap(), &mut why).unwrap();
    assert!(why.contains("by a kill from outside"), "{why}");
    other.assert_appears();
    assert_eq!(runs(&place).len(), 1, "the other run continues");
    left.send(Signal::KILL);
    left.wait();
}

/// R13: the command receives the signal and ends in its own way.
#[test]
fn stop_lets_a_command_end_by_itself() {
    let place = Place::new();
    let script = "trap 'echo ending; exit 7' TERM; echo up; while :; do sleep 0.05; done";
    let mut run = place.shell(&[], script);
    run.expect_line("up");
    let name = runs(&place).remove(0);
    let output = place.output(["stop", &name[..name.len() - 2]]);
    assert!(output.status.success(), "{}", said(&output));
    run.expect_line("ending");
    assert_eq!(run.code(), Some(7));
}

/// R13, A15
#[test]
fn stop_kills_a_command_that_ignores_it() {
    let place = Place::new();
    let mut run = place.shell(&[], "trap '' TERM; echo up; while :; do sleep 0.05; done");
    run.expect_line("up");
    let output = place.output(["stop", "--all", "--grace", "200ms"]);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(run.code(), Some(125));
}

/// R13: runs that fork as fast as they can, of several owners, next to an unrelated process that looks like
/// them.
#[test]
fn kill_all_ends_fork_bombs_and_no_stranger() {
    let (place, elsewhere, stranger) = (Place::new(), Place::new(), Marker::new());
    let mut strange = begun(&elsewhere, &stranger);
    let marker = Marker::new();
    // A function that calls itself twice in the background; the limit keeps the machine usable. The shell's
    // complaints about the limit would fill the log.
    let bomb =
        format!("exec 2>/dev/null; {}; b() {{ b | b & }}; echo up; b; exec sleep {marker}", marker.daemon());
    let mut bombs: Vec<Run> = (0..4).map(|_| place.shell(&["--pids", "60"], &bomb)).collect();
    for run in &mut bombs {
        run.expect_line("up");
    }
    let output = place.output(["kill", "--all", "--json"]);
    assert!(output.status.success(), "{}", said(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["survivors"].as_array().unwrap().len(), 0);
    marker.assert_gone();
    for run in &mut bombs {
        run.wait();
    }
    assert!(runs(&place).is_empty());
    stranger.assert_appears();
    assert_eq!(runs(&elsewhere).len(), 1, "another state directory's");
    strange.send(Signal::KILL);
    strange.wait();
}

/// R13, R14: a process that the kernel cannot kill is named, and the exit status reports it.
#[test]
fn an_unkillable_process_is_named() {
    let place = Place::new();
    let Some(hung) = Hung::mount() else {
        let must = std::env::var_os("EXEC_TEST_REQUIRE").is_some() && rustix::process::geteuid().is_root();
        assert!(!must, "no FUSE file system can be mounted, and EXEC_TEST_REQUIRE allows no gaps");
        println!("skipped: no FUSE file system can be mounted here");
        return;
    };
    let mount = format!("{0}:{0}", hung.path().display());
    let mut run =
        place.shell(&["--mount", &mount], &format!("echo up; cat {}/{FILE}", hung.path().display()));
    run.expect_line("up");
    assert!(eventually(OUTER_LIMIT, || hung.is_asked()), "it waits for an answer that never comes");
    let output = place.output(["kill", "--all"]);
    let text = said(&output);
    drop(hung);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("(cat)") && text.contains("uninterruptible sleep"), "{text}");
    run.wait();
    assert!(place.output(["kill", "--all"]).status.success(), "now it can be");
}

/// R13: a stopped owner can't clean up, and need not.
#[test]
fn kill_needs_no_owner() {
    let (place, marker) = (Place::new(), Marker::new());
    let mut run = begun(&place, &marker);
    run.send(Signal::STOP);
    let health = place.output(["health"]);
    assert_eq!(health.status.code(), Some(1), "{}", said(&health));
    assert!(said(&health).contains("is stopped"), "{}", said(&health));
    let owner = run.pid().to_string();
    let output = place.output(["kill", "--owner", &owner]);
    assert!(output.status.success(), "{}", said(&output));
    marker.assert_gone();
    assert!(runs(&place).is_empty());
    run.send(Signal::CONT);
    assert_eq!(run.code(), Some(125));
}

/// R13
#[test]
fn an_unknown_run_is_an_error_with_a_remedy() {
    let place = Place::new();
    for args in [&["kill", "abc"][..], &["stop", "--session", "x"], &["rm", "abc"]] {
        let output = place.output(args);
        assert_eq!(output.status.code(), Some(125), "{args:?}");
        assert!(said(&output).contains("agentctl ps"), "{}", said(&output));
    }
    assert_eq!(place.output(["kill"]).status.code(), Some(125), "no run is named");
    assert!(place.output(["kill", "--all"]).status.success());
}

/// R13
#[test]
fn rm_removes_a_running_one_only_by_force() {
    let (place, marker) = (Place::new(), Marker::new());
    let mut run = begun(&place, &marker);
    let refused = place.output(["rm", "--all"]);
    assert!(!refused.status.success() && said(&refused).contains("--force"), "{}", said(&refused));
    marker.assert_appears();
    assert!(place.output(["rm", "--force", "--all"]).status.success());
    marker.assert_gone();
    run.wait();
}

/// R90
#[test]
fn health_is_a_word_and_figures() {
    let (place, marker) = (Place::new(), Marker::new());
    assert!(said(&place.output(["health"])).starts_with("stopped: 0 runs"));
    let mut run = begun(&place, &marker);
    let output = place.output(["health", "--json"]);
    let health: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((health["state"].as_str(), health["runs"].as_u64()), (Some("running"), Some(1)));
    assert!(health["processes"].as_u64() >= Some(3) && health["memory_bytes"].as_u64() > Some(0), "{health}");
    assert!(
        said(&place.output(["health", "abc"])).starts_with("stopped"),
        "an unknown run counts as stopped"
    );
    run.send(Signal::KILL);
    run.wait();
}

/// R15, R91, F1: a killed orchestrator leaves an open run in the log, and the next start or `gc` closes it.
#[test]
fn gc_cleans_up_after_a_killed_owner() {
    let (place, marker) = (Place::new(), Marker::new());
    let mut run = begun(&place, &marker);
    let name = runs(&place).remove(0);
    run.send(Signal::KILL);
    run.wait();
    marker.assert_gone_within(OUTER_LIMIT);
    // Leftovers of other owners on the engines may be listed too.
    for look in ["first", "second"] {
        let looked = said(&place.output(["gc", "--dry-run"]));
        assert!(
            looked.contains(&format!("would close run {name}")),
            "the {look} look changes nothing: {looked}"
        );
    }
    let cleaned = place.output(["gc"]);
    assert!(cleaned.status.success() && said(&cleaned).contains(&name), "{}", said(&cleaned));
    assert!(place.records("runs").is_empty());
    let log = std::fs::read_to_string(place.user().join("agentctl/audit.jsonl")).unwrap();
    let ends: Vec<&str> =
        log.lines().filter(|line| line.contains("\"end\"") && line.contains(&name)).collect();
    assert_eq!(ends.len(), 1, "{log}");
    assert!(ends[0].contains("was gone before it ended"), "{log}");
    // Leftovers of other users' dead programs on the engines are cleaned up as well, at any time.
    let again = said(&place.output(["gc"]));
    let ours: Vec<&str> = again.lines().filter(|line| !line.starts_with("removed container")).collect();
    assert!(ours.is_empty() || again.contains("nothing to clean up"), "{again}");
}

/// R15, F1: the records of a cell and its run are removed with it, even if its owner was killed: no other
/// program of ours has to start.
#[test]
fn a_killed_owner_leaves_no_record() {
    let place = Place::new();
    let records = || ["cells", "runs"].map(|kind| place.records(kind)).concat();
    for _ in 0..10 {
        let mut run = begun(&place, &Marker::new());
        assert_eq!(records().len(), 2, "the control: {:?}", records());
        run.send(Signal::KILL);
        run.wait();
        assert!(eventually(OUTER_LIMIT, || records().is_empty()), "{:?}", records());
    }
}

/// R15, R91: the next start closes the run in the log.
#[test]
fn the_next_run_cleans_up_as_well() {
    let (place, marker) = (Place::new(), Marker::new());
    let mut run = begun(&place, &marker);
    let name = runs(&place).remove(0);
    run.send(Signal::KILL);
    run.wait();
    assert!(eventually(OUTER_LIMIT, || place.records("runs").is_empty()), "{:?}", place.records("runs"));
    let mut next = begun(&place, &Marker::new());
    let ends = || {
        let log = std::fs::read_to_string(place.user().join("agentctl/audit.jsonl")).unwrap();
        log.lines().filter(|line| line.contains("\"end\"") && line.contains(&name)).count()
    };
    assert!(eventually(OUTER_LIMIT, || ends() == 1), "{}", ends());
    next.send(Signal::KILL);
    next.wait();
}

/// F7, F14
#[test]
fn a_run_that_cannot_be_recorded_does_not_start() {
    let place = Place::new();
    place.file("file", "");
    let mut command = place.agentctl(["run", "--quiet", "--", "echo", "hello"]);
    let output = command.env("AGENTCTL_STATE_DIR", place.path().join("file/state")).output().unwrap();
    assert_eq!(output.status.code(), Some(125));
    assert!(output.stdout.is_empty() && said(&output).contains("AGENTCTL_STATE_DIR"), "{}", said(&output));

    let mut command = place.agentctl(["run", "--quiet", "--", "echo", "hello"]);
    command.env("AGENTCTL_AUDIT", "required").env("AGENTCTL_AUDIT_FILE", "/dev/full");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(125));
    assert!(output.stdout.is_empty() && said(&output).contains("audit log"), "{}", said(&output));

    let mut command = place.agentctl(["run", "--quiet", "--", "echo", "hello"]);
    let output = command.env("AGENTCTL_AUDIT_FILE", "/dev/full").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "hello\n", "where it is not required, it runs");
}
