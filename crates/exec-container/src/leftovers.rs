//! What processes that are dead left on an engine: found when the next one starts there.
//!
//! A reaper that could not reach the engine, because that was killed too, has nobody to take over from it but us. Only
//! what is provably nobody's any more is removed; a doubt leaves a container where it is.

use std::time::Duration;

use crate::engine::{Engine, Listed};
use crate::labels::{self, Mark};

/// All of it together; the rest is for who starts next.
const LIMIT: Duration = Duration::from_secs(60);

/// Looks for leftovers and removes them, beside whatever else goes on.
pub(crate) fn sweep(engine: &Engine) {
    // Where there are no such files nothing can be proved.
    let Some(here) = Place::here() else { return };
    let engine = engine.clone();
    tokio::spawn(async move {
        if tokio::time::timeout(LIMIT, remove_all(&engine, &here)).await.is_err() {
            tracing::debug!("there was no time to remove all that dead processes left");
        }
    });
}

async fn remove_all(engine: &Engine, here: &Place) {
    let listed = match engine.list(labels::OWNER).await {
        Ok(listed) => listed,
        Err(error) => return tracing::debug!(%error, "looking for leftovers"),
    };
    for container in listed.iter().filter(|container| is_leftover(container, here, state_of)) {
        // By its id: a name may be somebody else's by now.
        match engine.remove(&container.id).await {
            Ok(()) => tracing::info!(container = container.name, "removed what a dead process left"),
            Err(error) => tracing::debug!(%error, "removing a leftover"),
        }
    }
}

/// Where process numbers mean what they mean to us.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    boot: String,
    namespaces: String,
}

impl Place {
    fn here() -> Option<Self> {
        Some(Self { boot: labels::boot_id()?, namespaces: labels::namespaces()? })
    }
}

/// What is known of a process number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "processes can be looked at on Linux only"))]
pub(crate) enum Process {
    Gone,
    /// Somebody has it, since this many ticks after the machine began.
    Since(u64),
    /// Somebody has it, and we may not see who.
    Unknown,
}

impl Process {
    /// Whether the one that began then is dead for sure.
    pub(crate) fn is_dead(self, start: u64) -> bool {
        match self {
            Self::Gone => true,
            Self::Since(began) => began != start,
            Self::Unknown => false,
        }
    }
}

/// Whether it was made by a process of ours that is dead.
fn is_leftover(container: &Listed, here: &Place, state_of: impl Fn(u32) -> Process) -> bool {
    let Some(mark) = Mark::parse(&container.labels) else { return false };
    // Images pass their labels on to whatever is made from them, but can't know what that will be called.
    let is_ours = mark.cell == container.name;
    let is_from_here = mark.boot == here.boot && mark.namespaces == here.namespaces;
    is_ours && is_from_here && state_of(mark.pid).is_dead(mark.start)
}

#[cfg(target_os = "linux")]
pub(crate) fn state_of(pid: u32) -> Process {
    use rustix::io::Errno;
    use rustix::process::{Pid, test_kill_process};
    let Some(number) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return Process::Unknown };
    // `/proc` may hide what is alive; a signal that is none tells the truth.
    if test_kill_process(number) == Err(Errno::SRCH) {
        return Process::Gone;
    }
    labels::start_time(&pid.to_string()).map_or(Process::Unknown, Process::Since)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn state_of(_: u32) -> Process {
    Process::Unknown
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use rstest::rstest;

    use super::*;
    use crate::labels::Owner;

    const PID: u32 = 4711;
    const START: u64 = 100;

    fn here() -> Place {
        Place { boot: "boot".into(), namespaces: "4026531836.4026531834".into() }
    }

    fn made_by_us() -> Listed {
        let owner = Owner {
            id: "o4711-0-abc".into(),
            pid: PID,
            start: Some(START),
            boot: Some("boot".into()),
            namespaces: Some(here().namespaces),
        };
        Listed {
            id: "c0ffee".into(),
            name: "agentctl-4711-0-abc".into(),
            labels: owner.labels("agentctl-4711-0-abc"),
        }
    }

    fn decide(container: &Listed, process: Process) -> bool {
        is_leftover(container, &here(), |pid| {
            assert_eq!(pid, PID);
            process
        })
    }

    /// R15, F12
    #[rstest]
    #[case::dead(Process::Gone, true)]
    #[case::dead_and_its_number_given_to_another(Process::Since(START + 1), true)]
    #[case::alive(Process::Since(START), false)]
    #[case::hidden(Process::Unknown, false)]
    fn the_owner_decides(#[case] process: Process, #[case] goes: bool) {
        assert_eq!(decide(&made_by_us(), process), goes);
    }

    /// A37: every label must be there and make sense.
    #[test]
    fn a_missing_or_odd_label_makes_it_somebody_elses() {
        for key in made_by_us().labels.keys().filter(|key| *key != labels::VERSION) {
            let mut without = made_by_us();
            without.labels.remove(key);
            assert!(!decide(&without, Process::Gone), "without {key}");
            let mut odd = made_by_us();
            odd.labels.insert(key.clone(), String::new());
            assert!(!decide(&odd, Process::Gone), "with an empty {key}");
        }
    }

    /// A37: another boot may be another machine, and the same number in another namespace is another process.
    #[rstest]
    #[case::another_boot(Place { boot: "other".into(), ..here() })]
    #[case::another_namespace(Place { namespaces: "4026532000.4026531834".into(), ..here() })]
    fn what_comes_from_elsewhere_stays(#[case] here: Place) {
        assert!(!is_leftover(&made_by_us(), &here, |_| Process::Gone));
    }

    /// A37: made by somebody from an image that carries our labels.
    #[test]
    fn inherited_labels_make_nobody_ours() {
        let inherited = Listed { name: "nginx".into(), ..made_by_us() };
        assert!(!decide(&inherited, Process::Gone));
        let nothing = Listed { labels: HashMap::new(), ..made_by_us() };
        assert!(!decide(&nothing, Process::Gone));
    }

    /// F12: what this machine says of processes that are known.
    #[cfg(target_os = "linux")]
    #[test]
    fn processes_are_told_apart() {
        let own = std::process::id();
        assert_eq!(state_of(own), Process::Since(labels::start_time("self").unwrap()));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        assert_eq!(state_of(child.id()), Process::Gone);
        assert_eq!(state_of(0), Process::Unknown);
    }

    /// What is made now is not taken for a leftover by anybody here.
    #[cfg(target_os = "linux")]
    #[test]
    fn our_own_stay() {
        let own = Listed { labels: Owner::this_process().labels("x"), name: "x".into(), id: "i".into() };
        assert!(Mark::parse(&own.labels).is_some());
        assert!(!is_leftover(&own, &Place::here().unwrap(), state_of));
    }
}
