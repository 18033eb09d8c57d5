//! What processes that are dead left on an engine: found when the next one starts there.
//!
//! A reaper that could not reach the engine, because that was killed too, has nobody to take over from it but us. Only
//! what is provably nobody's any more is removed; a doubt leaves a container where it is.

use std::time::Duration;

use exec_control::{ProcessState, World};

use crate::engine::labels::{self, Mark};
use crate::engine::{Engine, Listed};

/// All of it together; the rest is for who starts next.
const LIMIT: Duration = Duration::from_secs(60);

/// Looks for leftovers and removes them, beside whatever else goes on.
pub(crate) fn sweep(engine: &Engine) {
    // Where there are no such files nothing can be proved.
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
        // By its id: a name may be somebody else's by now.
        match engine.remove(&container.id).await {
            Ok(()) => tracing::info!(container = container.name, "removed what a dead process left"),
            Err(error) => tracing::debug!(%error, "removing a leftover"),
        }
    }
}

/// Whether it was made by a process of ours that is dead.
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

    /// A37: every label must be there and make sense.
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

    /// A37: made by somebody from an image that carries our labels.
    #[test]
    fn inherited_labels_make_nobody_ours() {
        let inherited = Listed { name: "nginx".into(), ..made_by_us() };
        assert!(!decide(&inherited, ProcessState::Gone));
        let nothing = Listed { labels: HashMap::new(), ..made_by_us() };
        assert!(!decide(&nothing, ProcessState::Gone));
    }

    /// What is made now is not taken for a leftover by anybody here.
    #[cfg(target_os = "linux")]
    #[test]
    fn our_own_stay() {
        let labels = labels::of_cell(&Owner::this_process(), &StateDir::at("/s"), "x");
        let own = Listed { labels, name: "x".into(), id: "i".into() };
        assert!(Mark::parse(&own.labels).is_some());
        assert!(!is_leftover(&own, &World::here().unwrap(), ProcessState::of));
    }
}
