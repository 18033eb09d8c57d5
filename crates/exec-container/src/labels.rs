//! Whose a container is: carried by labels that are set when it is created, never by its name.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};

/// Everything of ours has this one; its value is the owner's id.
pub const OWNER: &str = "dev.agentctl.owner";

const OWNER_PID: &str = "dev.agentctl.owner.pid";
const OWNER_START: &str = "dev.agentctl.owner.start";
const OWNER_BOOT: &str = "dev.agentctl.owner.boot";
const CELL: &str = "dev.agentctl.cell";
const VERSION: &str = "dev.agentctl.version";

/// Who makes containers: one executor of one process. Start time and boot tell the process from a later one with the
/// same number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Owner {
    /// Unique to this executor.
    pub(crate) id: String,
    pid: u32,
    start: Option<u64>,
    boot: Option<String>,
}

impl Owner {
    /// This process.
    pub(crate) fn this_process() -> Self {
        let pid = std::process::id();
        Self { id: unique(&format!("o{pid}")), pid, start: start_time(), boot: boot_id() }
    }

    /// The labels of a container of theirs.
    pub(crate) fn labels(&self, cell: &str) -> HashMap<String, String> {
        let mut labels = HashMap::from([
            (OWNER.to_owned(), self.id.clone()),
            (OWNER_PID.to_owned(), self.pid.to_string()),
            (CELL.to_owned(), cell.to_owned()),
            (VERSION.to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
        ]);
        labels.extend(self.start.map(|start| (OWNER_START.to_owned(), start.to_string())));
        labels.extend(self.boot.clone().map(|boot| (OWNER_BOOT.to_owned(), boot)));
        labels
    }
}

/// The labels of what is made once and serves everybody: images, volumes.
pub(crate) fn of_ours() -> HashMap<String, String> {
    HashMap::from([(VERSION.to_owned(), env!("CARGO_PKG_VERSION").to_owned())])
}

/// A name that nothing else on the engine has.
pub(crate) fn unique(prefix: &str) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let random = RandomState::new().hash_one(count);
    format!("{prefix}-{count}-{random:012x}")
}

/// When this process began, in the kernel's ticks since the machine did.
fn start_time() -> Option<u64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name in parentheses may contain anything.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(19)?.parse().ok()
}

fn boot_id() -> Option<String> {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok().map(|id| id.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_and_cells_are_told_apart() {
        let (one, other) = (Owner::this_process(), Owner::this_process());
        assert_ne!(one.id, other.id);
        assert_ne!(unique("c"), unique("c"));
        let labels = one.labels("cell-1");
        assert_eq!(labels[OWNER], one.id);
        assert_eq!(labels[OWNER_PID], std::process::id().to_string());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_process_is_known_beyond_its_number() {
        let labels = Owner::this_process().labels("x");
        assert!(labels.contains_key(OWNER_START) && labels.contains_key(OWNER_BOOT), "{labels:?}");
    }
}
