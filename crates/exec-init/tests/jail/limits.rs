//! Limits: set, read back, enforced, counted. Where no control group can be written there are notes instead.

use exec_wire::JailSpec;

use crate::cell::Cell;
use crate::spec::{Stage, Who};

const MEMORY: u64 = 64 << 20;

fn limited(stage: &Stage) -> Vec<JailSpec> {
    let limit = |mut spec: JailSpec| {
        spec.cgroup.memory = Some(MEMORY);
        spec.cgroup.pids = Some(16);
        spec.cgroup.cpu_milli = Some(1500);
        spec
    };
    vec![limit(stage.namespaces()), limit(stage.subreaper())]
}

#[test]
fn limits_are_read_back_or_noted() {
    for who in Who::all() {
        let stage = Stage::new(who);
        for spec in limited(&stage) {
            let facts = Cell::start(who, spec).unwrap().facts.clone();
            let pairs = [
                ("memory", facts.limits.memory, MEMORY),
                ("pids", facts.limits.pids, 16),
                ("cpu", facts.limits.cpu_milli, 1500),
            ];
            for (name, found, asked) in pairs {
                let noted = facts.notes.iter().any(|note| note.starts_with(name));
                assert!(found == Some(asked) || (found.is_none() && noted), "{who:?}: {name}: {facts:?}");
                assert_ne!(found.is_some(), noted, "{who:?}: {name}: {facts:?}");
            }
            assert_eq!(facts.limits.cgroup.is_some(), facts.limits.memory.is_some(), "{facts:?}");
        }
    }
}

/// A30
#[test]
fn using_up_memory_is_counted() {
    for who in Who::all() {
        let stage = Stage::new(who);
        for spec in limited(&stage) {
            let cell = Cell::start(who, spec).unwrap();
            if cell.facts.limits.memory.is_none() {
                println!("not claimed: {:?}", cell.facts.notes);
                continue;
            }
            let outcome = cell.sh("tail /dev/zero; echo status $?");
            assert!(outcome.output.contains("status 137"), "{who:?}: {outcome:?}");
            assert!(outcome.closed.oom_kills >= 1, "{who:?}: {outcome:?}");
            assert!(outcome.closed.peak_memory > MEMORY / 2, "{who:?}: {outcome:?}");
            assert!(outcome.closed.peak_memory <= MEMORY, "{who:?}: {outcome:?}");
        }
    }
}

/// A30
#[test]
fn too_many_processes_are_counted() {
    for who in Who::all() {
        let stage = Stage::new(who);
        for spec in limited(&stage) {
            let cell = Cell::start(who, spec).unwrap();
            if cell.facts.limits.pids.is_none() {
                println!("not claimed: {:?}", cell.facts.notes);
                continue;
            }
            let outcome = cell.sh("i=0; while [ $i -lt 40 ]; do sleep 100 & i=$((i+1)); done; echo all");
            assert!(!outcome.output.contains("all"), "{who:?}: {outcome:?}");
            assert!(outcome.closed.pids_denied >= 1, "{who:?}: {outcome:?}");
        }
    }
}
