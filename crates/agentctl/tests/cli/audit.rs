//! The audit log on disk after real runs.

use std::collections::BTreeSet;
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Marker, OUTER_LIMIT, Place, Run, eventually, wait};

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

/// R91: neither output nor arguments create lines.
#[test]
fn no_output_or_argument_is_a_line() {
    let place = Place::new();
    let forged = "x\n{\"event\":\"end\",\"run\":\"forged\"}\n";
    place.output(["run", "--quiet", "--", "printf", "%s", forged]);
    let lines = lines(&place);
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines.iter().all(|line| line["run"] != "forged"));
    assert_eq!(lines[0]["argv"][2], forged, "the arguments are recorded unchanged");
}

/// R91: a failed start has its lines too.
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

/// Everything written about a run while it lasts: its records and the log.
fn written_down(place: &Place) -> String {
    let records = ["cells", "runs"].map(|kind| std::fs::read_dir(place.state().join(kind)).unwrap());
    let records = records.into_iter().flatten().map(|record| record.unwrap().path());
    let log = place.user().join("agentctl/audit.jsonl");
    records.chain([log]).map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

/// R91: only the command sees the value of a secret, even if its name does not look like one.
#[test]
fn a_secret_shows_nowhere() {
    let (place, marker) = (Place::new(), Marker::new());
    let (secret, plain) = ("qwertz-4711", "asdf-0815");
    let script = format!("echo $PLACE; echo $OTHER; : {secret} {plain}; exec sleep {marker}");
    let mut command =
        place.agentctl(["run", "--verbose", "--secret", "PLACE", "--env", "OTHER", "--", "sh", "-c"]);
    command.arg(script).env("PLACE", secret).env("OTHER", plain).env("RUST_LOG", "trace");
    let mut run = Run::spawn(command.stderr(Stdio::piped()));
    run.expect_line(secret);
    run.expect_line(plain);
    let written = written_down(&place);
    let listed = String::from_utf8(place.output(["ps", "--json"]).stdout).unwrap();
    run.send(Signal::TERM);
    run.wait();
    let mut logged = String::new();
    std::io::Read::read_to_string(&mut run.child().stderr.take().unwrap(), &mut logged).unwrap();
    for (what, text) in [("written", written + &written_down(&place)), ("listed", listed), ("logged", logged)]
    {
        assert!(text.contains(plain), "the control: a plain value is {what}: {text}");
        assert!(!text.contains(secret), "{what}: {text}");
    }
}

/// Runs whose owners were killed, and of which only the lines in the log are left, as after a restart.
fn lose(place: &Place, count: usize) {
    let markers: Vec<Marker> = (0..count).map(|_| Marker::new()).collect();
    let begin = |marker: &Marker| {
        let mut run = place.shell(&[], &format!("echo up; exec sleep {marker}"));
        run.expect_line("up");
        run
    };
    for mut run in markers.iter().map(begin).collect::<Vec<_>>() {
        run.send(Signal::KILL);
        run.wait();
    }
    for marker in &markers {
        marker.assert_gone_within(OUTER_LIMIT);
    }
    std::fs::remove_dir_all(place.state()).unwrap();
}

/// R91, R15: by the command, once, and with the reason.
#[test]
fn gc_closes_runs_without_records() {
    let place = Place::new();
    lose(&place, 2);
    let log = place.user().join("agentctl/audit.jsonl");
    let text = std::fs::read_to_string(&log).unwrap();
    let (first, second) = text.split_once('\n').unwrap();
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    assert!(first.contains(boot.trim()), "{first}");
    std::fs::write(&log, format!("{}\n{second}", first.replace(boot.trim(), "an-earlier-start"))).unwrap();
    let said = String::from_utf8(place.output(["gc", "--dry-run"]).stdout).unwrap();
    assert_eq!(said.matches("would close run").count(), 2, "{said}");
    for _ in 0..2 {
        assert!(place.output(["gc"]).status.success());
    }
    let lines = lines(&place);
    let why: BTreeSet<&str> = of(&lines, "end").iter().map(|line| line["error"].as_str().unwrap()).collect();
    let gone = format!("its owner, process {}, was gone before it ended", lines[1]["owner_pid"]);
    assert_eq!(why, BTreeSet::from(["the machine was restarted before it ended", &gone]));
    assert_eq!(lines.len(), 4, "{lines:?}");
}

/// R91, R15: automatically. A short run may end before it has closed them; then the next one does.
#[test]
fn the_next_runs_close_runs_without_records() {
    let place = Place::new();
    lose(&place, 1);
    let run = lines(&place)[0]["run"].clone();
    let ends = || lines(&place).iter().filter(|line| line["event"] == "end" && line["run"] == run).count();
    let closed = eventually(OUTER_LIMIT, || {
        place.output(["run", "--quiet", "--", "true"]);
        ends() > 0
    });
    assert!(closed, "{:?}", lines(&place));
    place.output(["gc"]);
    assert_eq!(ends(), 1, "{:?}", lines(&place));
}
