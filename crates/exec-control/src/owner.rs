//! The owner of a cell.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::process::{Process, ProcessState, World, start_time};

/// The owner of cells: one or more executors of one process. Start time and boot distinguish the process from a
/// later one with the same pid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Unique to the executor.
    pub id: String,
    /// The process.
    pub pid: u32,
    /// When the process started.
    pub start: Option<u64>,
    /// The boot and the namespaces in which pid and start time are valid.
    pub world: Option<World>,
}

impl Owner {
    /// An owner for this process.
    pub fn this_process() -> Self {
        let pid = std::process::id();
        Self { id: unique(&format!("o{pid}")), pid, start: start_time("self"), world: World::here() }
    }

    /// Whether the owner is known to be dead, seen from `here`.
    pub fn is_dead(&self, here: &World) -> bool {
        match (&self.world, self.start) {
            (Some(world), Some(start)) => {
                if world.boot != here.boot {
                    // The state directory belongs to this machine, which has rebooted since.
                    return true;
                }
                world == here && ProcessState::of(self.pid).is_dead(start)
            }
            _ => false,
        }
    }

    /// The owner's process, if its pid means the same here.
    pub fn process(&self, here: &World) -> Option<Process> {
        self.world.as_ref().filter(|world| *world == here)?;
        Some(Process { pid: self.pid, start: self.start? })
    }
}

/// A name that is unique on this machine and its engines, and that can't be guessed and taken first.
pub fn unique(prefix: &str) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let random = RandomState::new().hash_one(count);
    format!("{prefix}-{count}-{random:012x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_and_names_are_told_apart() {
        assert_ne!(Owner::this_process().id, Owner::this_process().id);
        assert_ne!(unique("c"), unique("c"));
    }

    /// F12
    #[cfg(target_os = "linux")]
    #[test]
    fn an_owner_is_dead_when_its_process_is() {
        let here = World::here().unwrap();
        let own = Owner::this_process();
        assert!(!own.is_dead(&here));
        assert!(Owner { start: own.start.map(|start| start + 1), ..own.clone() }.is_dead(&here));
        let elsewhere = World { namespaces: "1.2".into(), ..here.clone() };
        let other = Owner { world: Some(elsewhere), pid: u32::MAX, ..own.clone() };
        assert!(!other.is_dead(&here), "the same pid elsewhere is another process");
        let before = World { boot: "before".into(), ..here.clone() };
        assert!(Owner { world: Some(before), ..own }.is_dead(&here));
    }

    /// R15, F12: nothing of it runs any more, whether or not its parent has reaped it.
    #[cfg(target_os = "linux")]
    #[test]
    fn an_owner_that_nobody_has_waited_for_is_dead() {
        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
        let here = World::here().unwrap();
        let mut child =
            std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        let process = Process::now(child.id()).unwrap();
        let owner = Owner { pid: process.pid, start: Some(process.start), ..Owner::this_process() };
        assert!(!owner.is_dead(&here), "it reads");
        drop(child.stdin.take());
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(Pid::from_child(&child)), ended).unwrap();
        assert_eq!(Process::now(child.id()), Some(process), "its pid is not reused");
        assert!(owner.is_dead(&here));
        child.wait().unwrap();
    }
}
