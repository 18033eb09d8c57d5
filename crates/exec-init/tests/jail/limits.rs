//! Limits: set, read back, enforced, counted. If no control group can be written there are notes instead.

use exec_wire::JailSpec;

use crate::cell::Cell;
use crate::spec::{Role, Stage};

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
    for role in Role::all() {
        let stage = Stage::new(role);
        for spec in limited(&stage) {
            let facts = Cell::start(role, spec).unwrap().facts.clone();
            let pairs = [
                ("memory", facts.limits.memory, MEMORY),
                ("pids", facts.limits.pids, 16),
                ("cpu", facts.limits.cpu_milli, 1500),
            ];
            for (name, found, asked) in pairs {
                let noted = facts.notes.iter().any(|note| note.about.name() == name);
                assert!(found == Some(asked) || (found.is_none() && noted), "{role:?}: {name}: {facts:?}");
                assert_ne!(found.is_some(), noted, "{role:?}: {name}: {facts:?}");
            }
            assert_eq!(facts.limits.cgroup.is_some(), facts.limits.memory.is_some(), "{facts:?}");
        }
    }
}

/// The group of this process, as far as the kernel lets it be changed.
fn own_group() -> Option<[String; 2]> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap();
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let own = std::path::Path::new("/sys/fs/cgroup").join(own);
    let read = |file| std::fs::read_to_string(own.join(file)).ok();
    Some([read("cgroup.subtree_control")?, read("cgroup.type").unwrap_or_default()])
}

/// R41: setting a limit never changes the caller's own group.
#[test]
fn the_callers_group_is_as_it_was() {
    let before = own_group();
    for role in Role::all() {
        let stage = Stage::new(role);
        for spec in limited(&stage) {
            let cell = Cell::start(role, spec).unwrap();
            assert_eq!(own_group(), before, "{role:?}");
            cell.hang_up();
            assert_eq!(own_group(), before, "{role:?}");
        }
    }
}

/// A30
#[test]
fn using_up_memory_is_counted() {
    for role in Role::all() {
        let stage = Stage::new(role);
        for spec in limited(&stage) {
            let cell = Cell::start(role, spec).unwrap();
            if cell.facts.limits.memory.is_none() {
                println!("not claimed: {:?}", cell.facts.notes);
                continue;
            }
            let outcome = cell.sh("tail /dev/zero; echo status $?");
            assert!(outcome.output.contains("status 137"), "{role:?}: {outcome:?}");
            assert!(outcome.closed.oom_kills >= 1, "{role:?}: {outcome:?}");
            assert!(outcome.closed.peak_memory > MEMORY / 2, "{role:?}: {outcome:?}");
            assert!(outcome.closed.peak_memory <= MEMORY, "{role:?}: {outcome:?}");
        }
    }
}

/// A30
#[test]
fn too_many_processes_are_counted() {
    for role in Role::all() {
        let stage = Stage::new(role);
        for spec in limited(&stage) {
            let cell = Cell::start(role, spec).unwrap();
            if cell.facts.limits.pids.is_none() {
                println!("not claimed: {:?}", cell.facts.notes);
                continue;
            }
            let outcome = cell.sh("i=0; while [ $i -lt 40 ]; do sleep 100 & i=$((i+1)); done; echo all");
            assert!(!outcome.output.contains("all"), "{role:?}: {outcome:?}");
            assert!(outcome.closed.pids_denied >= 1, "{role:?}: {outcome:?}");
        }
    }
}
