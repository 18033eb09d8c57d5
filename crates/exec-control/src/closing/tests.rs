//! Logs with open runs.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::*;
use crate::audit::{Audit, AuditFile};
use crate::watch::Watch;

/// A state directory and a log after a reboot: the log has lines, the directory is empty.
struct Scene {
    dir: tempfile::TempDir,
    watch: Watch,
}

impl Scene {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let watch = Watch::new(
            StateDir::at(dir.path().join("state")),
            Audit::On(AuditFile::at(dir.path().join("audit.jsonl"))),
        );
        Self { dir, watch }
    }

    fn log(&self, file: &str) -> PathBuf {
        self.dir.path().join(file)
    }

    /// The start line of a run of this process, except for these fields.
    fn start(&self, run: &str, but: &Value) -> String {
        let own = Owner::this_process();
        let world = own.world.unwrap();
        let mut line = json!({
            "event": "start", "run": run, "owner": own.id, "owner_pid": own.pid, "owner_start": own.start,
            "owner_boot": world.boot, "owner_namespaces": world.namespaces, "machine": machine(),
            "state": self.watch.state().path(),
        });
        line.as_object_mut().unwrap().extend(but.as_object().unwrap().clone());
        format!("{line}\n")
    }

    fn write(&self, file: &str, lines: &[String]) {
        std::fs::write(self.log(file), lines.concat()).unwrap();
    }

    /// Why runs were closed, from the lines added to the log.
    fn closed(&self) -> Vec<(String, String)> {
        let text = std::fs::read_to_string(self.log("audit.jsonl")).unwrap();
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let word = |value: &Value| value.as_str().unwrap().to_owned();
        lines
            .filter(|line| line["error"].is_string())
            .map(|line| (word(&line["run"]), word(&line["error"])))
            .collect()
    }
}

fn restarted() -> Value {
    json!({"owner_boot": "before"})
}

fn end(run: &str) -> String {
    format!("{}\n", json!({"event": "end", "run": run, "exit_code": 0}))
}

/// R91, R15, A37: what is closed, and what is not.
#[test]
fn runs_from_before_a_restart_are_closed_once() {
    let scene = Scene::new();
    let gone = json!({"owner_start": 1});
    scene.write("audit.jsonl.2", &[scene.start("old", &restarted()), scene.start("ended", &restarted())]);
    scene.write("audit.jsonl.1", &["{\"event\":\"sta\n".to_owned(), end("ended")]);
    scene.write(
        "audit.jsonl",
        &[
            scene.start("cut", &restarted()),
            scene.start("gone", &gone),
            scene.start("alive", &json!({})),
            scene.start("elsewhere", &json!({"owner_namespaces": "1.2", "owner_start": 1})),
            scene.start("on another machine", &json!({"owner_boot": "before", "machine": "other"})),
            scene.start("of another directory", &json!({"owner_boot": "before", "state": "/other"})),
        ],
    );
    let looked = scene.watch.sweep(SweepMode::Look).unwrap();
    assert_eq!(looked.runs, ["cut", "gone", "old"]);
    assert!(scene.closed().is_empty(), "looking changes nothing");
    assert_eq!(scene.watch.sweep(SweepMode::Remove).unwrap().runs, ["cut", "gone", "old"]);
    let restart = "the machine was restarted before it ended";
    let pid = std::process::id();
    let expected = [
        ("cut", restart.to_owned()),
        ("gone", format!("its owner, process {pid}, was gone before it ended")),
        ("old", restart.to_owned()),
    ];
    assert_eq!(scene.closed(), expected.map(|(run, why)| (run.to_owned(), why)));
    assert_eq!(scene.watch.sweep(SweepMode::Remove).unwrap(), Swept::default(), "all is closed");
    assert_eq!(scene.closed().len(), 3);
}

/// R91, R15: several processes at once, and the log is rotated meanwhile.
#[test]
fn two_at_once_close_each_run_once() {
    let scene = Scene::new();
    let runs: Vec<String> = (0..200).map(|number| format!("r{number}")).collect();
    let lines: Vec<String> = runs.iter().map(|run| scene.start(run, &restarted())).collect();
    scene.write("audit.jsonl", &lines);
    let file = AuditFile { path: Some(scene.log("audit.jsonl")), size: 60_000 };
    let sweep = || {
        let watch = Watch::new(scene.watch.state().clone(), Audit::On(file.clone()));
        watch.sweep(SweepMode::Remove).unwrap();
    };
    std::thread::scope(|threads| (0..4).for_each(|_| drop(threads.spawn(sweep))));
    scene.watch.sweep(SweepMode::Remove).unwrap();
    let mut reading = String::new();
    for name in ["audit.jsonl.2", "audit.jsonl.1", "audit.jsonl"] {
        reading += &std::fs::read_to_string(scene.log(name)).unwrap_or_default();
    }
    let closed = |run: &String| reading.matches(&format!("\"run\":\"{run}\",\"error\"")).count();
    assert!(scene.log("audit.jsonl.1").exists(), "the control: it was rotated");
    assert_eq!(runs.iter().map(closed).collect::<Vec<_>>(), vec![1; runs.len()]);
}

/// R91: an owner that died after it logged the end and before it removed the record.
#[test]
fn what_the_log_says_has_ended_is_not_closed_again() {
    let scene = Scene::new();
    let dead = Owner { start: Some(1), ..Owner::this_process() };
    let record = json!({
        "id": "r", "cell": "c", "backend": "local", "owner": dead, "session": null, "argv": ["x"], "cwd": "/", "since": 1,
    });
    scene.watch.state().put(Kind::Run, "c.r", &record).unwrap();
    scene.write("audit.jsonl", &[scene.start("r", &json!({"owner_start": 1})), end("r")]);
    assert_eq!(scene.watch.sweep(SweepMode::Remove).unwrap().runs, ["r"]);
    assert!(scene.closed().is_empty());
    assert!(scene.watch.state().names(Kind::Run).unwrap().is_empty());
}

/// R15: the sweep at startup is bounded and happens once per boot.
#[test]
fn by_itself_only_the_end_of_the_log_is_read_and_once() {
    let scene = Scene::new();
    let sweep = || {
        crate::sweep::sweep(scene.watch.state(), scene.watch.audit(), SweepMode::Remove, Extent::End).unwrap()
    };
    let filler = format!("{}\n", "x".repeat(1 << 20));
    scene.write("audit.jsonl.1", &[scene.start("put aside", &restarted())]);
    scene
        .write("audit.jsonl", &[scene.start("far", &restarted()), filler, scene.start("near", &restarted())]);
    assert_eq!(sweep().runs, ["near"]);
    let mut text = std::fs::read_to_string(scene.log("audit.jsonl")).unwrap();
    text += &scene.start("later", &restarted());
    std::fs::write(scene.log("audit.jsonl"), text).unwrap();
    assert!(sweep().runs.is_empty(), "it was searched during this boot");
    std::fs::write(note(scene.watch.state()), "").unwrap();
    assert_eq!(sweep().runs, ["far", "later", "put aside"], "a helper removed the record of a run");
    std::fs::write(scene.log("audit.jsonl.1"), scene.start("much later", &restarted())).unwrap();
    assert!(sweep().runs.is_empty(), "it was searched again");
    assert_eq!(
        scene.watch.sweep(SweepMode::Remove).unwrap().runs,
        ["much later"],
        "a requested sweep reads everything"
    );
}

/// R15, R91: the record of a run is removed with its cell, a moment before its owner has ended; its lines are
/// looked for again.
#[test]
fn a_run_of_an_owner_that_is_ending_is_looked_for_again() {
    let scene = Scene::new();
    let sweep = || {
        crate::sweep::sweep(scene.watch.state(), scene.watch.audit(), SweepMode::Remove, Extent::End).unwrap()
    };
    scene.write("audit.jsonl", &[scene.start("r", &json!({}))]);
    assert!(sweep().runs.is_empty(), "its owner is alive");
    scene.write("audit.jsonl", &[scene.start("r", &json!({"owner_start": 1}))]);
    assert_eq!(sweep().runs, ["r"]);
    scene.write("audit.jsonl", &[scene.start("next", &json!({"owner_start": 1}))]);
    assert!(sweep().runs.is_empty(), "the log has been searched");
    std::fs::remove_file(scene.watch.log_note()).unwrap();
    assert_eq!(sweep().runs, ["next"], "as after the record of a run was removed");
}
