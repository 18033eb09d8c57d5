//! Finds the runs that have a start but no end in the log. Pure: works on lines of any content.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::owner::Owner;
use crate::process::World;

/// A run that has started and, according to the log, not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenRun {
    /// Its name.
    pub(crate) id: String,
    /// Its owner.
    pub(crate) owner: Owner,
    /// The machine it ran on, if that has an id.
    pub(crate) machine: Option<String>,
    /// The state directory that has its record.
    pub(crate) state: String,
}

/// The state of a log, read from its oldest line on.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    open: BTreeMap<String, OpenRun>,
    ended: BTreeSet<String>,
}

/// The fields of a line that matter here. Lines of older versions have fewer; their runs are left alone.
#[derive(Debug, Deserialize)]
struct Said {
    event: String,
    run: String,
    owner: Option<String>,
    owner_pid: Option<u32>,
    owner_start: Option<u64>,
    owner_boot: Option<String>,
    owner_namespaces: Option<String>,
    machine: Option<String>,
    state: Option<String>,
}

impl Reading {
    /// Reads the next line. Torn and foreign lines are ignored.
    pub(crate) fn line(&mut self, line: &[u8]) {
        let Ok(said) = serde_json::from_slice::<Said>(line) else { return };
        match said.event.as_str() {
            "start" => {
                if let Some(run) = said.run_that_started() {
                    self.open.insert(run.id.clone(), run);
                }
            }
            "end" => {
                self.open.remove(&said.run);
                self.ended.insert(said.run);
            }
            _ => {}
        }
    }

    /// Whether the log has the end of this run.
    pub(crate) fn has_ended(&self, run: &str) -> bool {
        self.ended.contains(run)
    }

    /// Whether the log has the start of this run and not its end.
    pub(crate) fn is_open(&self, run: &str) -> bool {
        self.open.contains_key(run)
    }

    /// The runs that have not ended.
    pub(crate) fn open(self) -> impl Iterator<Item = OpenRun> {
        self.open.into_values()
    }
}

impl Said {
    fn run_that_started(self) -> Option<OpenRun> {
        let world = World { boot: self.owner_boot?, namespaces: self.owner_namespaces? };
        let owner =
            Owner { id: self.owner?, pid: self.owner_pid?, start: self.owner_start, world: Some(world) };
        Some(OpenRun { id: self.run, owner, machine: self.machine, state: self.state? })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn start(run: &str) -> String {
        json!({
            "event": "start", "run": run, "owner": "o7", "owner_pid": 7, "owner_start": 70, "owner_boot": "b",
            "owner_namespaces": "1.2", "machine": "m", "state": "/s", "argv": ["x"],
        })
        .to_string()
    }

    fn end(run: &str) -> String {
        json!({"event": "end", "run": run, "error": "x"}).to_string()
    }

    fn read(lines: &[String]) -> Reading {
        let mut reading = Reading::default();
        for line in lines {
            reading.line(line.as_bytes());
        }
        reading
    }

    fn open(lines: &[String]) -> Vec<String> {
        read(lines).open().map(|run| run.id).collect()
    }

    /// R91
    #[test]
    fn a_start_without_an_end_is_open() {
        let lines = [start("a"), start("b"), end("a"), start("c"), end("c")];
        assert_eq!(open(&lines), ["b"]);
        let reading = read(&lines);
        assert!(reading.has_ended("a") && !reading.has_ended("b") && reading.is_open("b"));
        let run = read(&lines).open().next().unwrap();
        assert_eq!((run.owner.pid, run.owner.start, run.state.as_str()), (7, Some(70), "/s"));
        assert_eq!(run.owner.world.unwrap(), World { boot: "b".into(), namespaces: "1.2".into() });
    }

    /// R91: lines cut off by a full disk or a crash, or written by an older version or another program.
    #[test]
    fn torn_and_foreign_lines_say_nothing() {
        let torn = start("a").split_at(40).0.to_owned();
        let older = json!({"event": "start", "run": "old", "owner": "o7", "owner_pid": 7}).to_string();
        let foreign = ["", "{}", "[1]", "null", "start a", r#"{"event":"end"}"#, r#"{"event":1,"run":"a"}"#];
        let mut lines: Vec<String> = foreign.map(str::to_owned).into();
        lines.extend([torn, older, start("a")]);
        assert_eq!(open(&lines), ["a"]);
        lines.extend([end("unheard of"), end("a").split_at(20).0.to_owned()]);
        assert_eq!(open(&lines), ["a"], "half an end line does not count");
    }

    proptest! {
        /// Reading the tail of a log begins in the middle of a line. The rest of that line does not count, whatever
        /// the command was called.
        #[test]
        fn the_rest_of_a_line_says_nothing(name in "\\PC{0,30}", at in 1usize..300) {
            let forged = format!("{name}{}", end("a"));
            let line = json!({"event": "start", "run": "x", "argv": [forged], "limits": [{"event": "end", "run": "a"}]});
            let line = line.to_string().into_bytes();
            let mut reading = read(&[start("a")]);
            reading.line(&line[at.min(line.len())..]);
            prop_assert!(reading.is_open("a"));
        }
    }
}
