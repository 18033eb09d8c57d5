//! Finds the containers that dead processes left on an engine, when the next process starts there.
//!
//! If the engine was killed too, the reaper could not reach it, and only the next process can clean up. A container
//! is removed only if its owner is provably dead; in doubt it stays.

use std::time::Duration;

use exec_control::{ProcessState, World};

use crate::engine::labels::{self, Mark};
use crate::engine::{Engine, Listed};

/// The time limit for the whole sweep; the next process to start does the rest.
const LIMIT: Duration = Duration::from_secs(60);

/// Finds and removes leftovers in the background.
pub(crate) fn sweep(engine: &Engine) {
    // Without `/proc`, nothing can be proved.
    let Some(here) = World::here() else { return };
    let engine = engine.clone();
    tokio::spawn(async move {
        if tokio::time::timeout(LIMIT, remove_all(&engine, &here)).await.is_err() {
            tracing::debug!("there was no time to remove all that dead processes left");
        }
    });
}

async fn remove_all(engine: &Engine, here: &World) {
    let listed = match engine.list(labels::OWNER).await {
        Ok(listed) => listed,
        Err(error) => return tracing::debug!(%error, "looking for leftovers"),
    };
    for container in listed.iter().filter(|container| is_leftover(container, here, ProcessState::of)) {
        // By id: another container may have the name by now.
        match engine.remove(&container.id).await {
            Ok(()) => tracing::info!(container = container.name, "removed what a dead process left"),
            Err(error) => tracing::debug!(%error, "removing a leftover"),
        }
    }
}

/// Whether its owner is one of our processes and dead.
pub(crate) fn is_leftover(container: &Listed, here: &World, state_of: impl Fn(u32) -> ProcessState) -> bool {
    let Some(mark) = Mark::parse(&container.labels) else { return false };
    labels::is_ours(container) && mark.world == *here && state_of(mark.pid).is_dead(mark.start)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use exec_control::{Owner, StateDir};
    use rstest::rstest;

    use super::*;

    const PID: u32 = 4711;
    const START: u64 = 100;

    fn here() -> World {
        World { boot: "boot".into(), namespaces: "4026531836.4026531834".into() }
    }

    fn made_by_us() -> Listed {
        let owner = Owner { id: "o4711-0-abc".into(), pid: PID, start: Some(START), world: Some(here()) };
        Listed {
            id: "c0ffee".into(),
            name: "agentctl-4711-0-abc".into(),
            labels: labels::of_cell(&owner, &StateDir::at("/s"), "agentctl-4711-0-abc"),
        }
    }

    fn decide(container: &Listed, process: ProcessState) -> bool {
        is_leftover(container, &here(), |pid| {
            assert_eq!(pid, PID);
            process
        })
    }

    /// R15, F12
    #[rstest]
    #[case::dead(ProcessState::Gone, true)]
    #[case::dead_and_its_number_given_to_another(ProcessState::Since(START + 1), true)]
    #[case::alive(ProcessState::Since(START), false)]
    #[case::hidden(ProcessState::Unknown, false)]
    fn the_owner_decides(#[case] process: ProcessState, #[case] goes: bool) {
        assert_eq!(decide(&made_by_us(), process), goes);
    }

    /// A37: every label must be present and valid.
    #[test]
    fn a_missing_or_odd_label_makes_it_somebody_elses() {
        for key in
            made_by_us().labels.keys().filter(|key| ![labels::VERSION, labels::STATE].contains(&key.as_str()))
        {
            let mut without = made_by_us();
            without.labels.remove(key);
            assert!(!decide(&without, ProcessState::Gone), "without {key}");
            let mut odd = made_by_us();
            odd.labels.insert(key.clone(), String::new());
            assert!(!decide(&odd, ProcessState::Gone), "with an empty {key}");
        }
    }

    /// A37: another boot may be another machine, and the same number in another namespace is another process.
    #[rstest]
    #[case::another_boot(World { boot: "other".into(), ..here() })]
    #[case::another_namespace(World { namespaces: "4026532000.4026531834".into(), ..here() })]
    fn what_comes_from_elsewhere_stays(#[case] here: World) {
        assert!(!is_leftover(&made_by_us(), &here, |_| ProcessState::Gone));
    }

    /// A37: a foreign container whose image carries our labels.
    #[test]
    fn inherited_labels_make_nobody_ours() {
        let inherited = Listed { name: "nginx".into(), ..made_by_us() };
        assert!(!decide(&inherited, ProcessState::Gone));
        let nothing = Listed { labels: HashMap::new(), ..made_by_us() };
        assert!(!decide(&nothing, ProcessState::Gone));
    }

    /// New containers of ours are not taken for leftovers.
    #[cfg(target_os = "linux")]
    #[test]
    fn our_own_stay() {
        let labels = labels::of_cell(&Owner::this_process(), &StateDir::at("/s"), "x");
        let own = Listed { labels, name: "x".into(), id: "i".into() };
        assert!(Mark::parse(&own.labels).is_some());
        assert!(!is_leftover(&own, &World::here().unwrap(), ProcessState::of));
    }
}
