//! Whose a container is: carried by labels that are set when it is created, never by its name.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};

/// Everything of ours has this one; its value is the owner's id.
pub(crate) const OWNER: &str = "dev.agentctl.owner";

const OWNER_PID: &str = "dev.agentctl.owner.pid";
const OWNER_START: &str = "dev.agentctl.owner.start";
const OWNER_BOOT: &str = "dev.agentctl.owner.boot";
const OWNER_NAMESPACES: &str = "dev.agentctl.owner.namespaces";
const CELL: &str = "dev.agentctl.cell";
pub(crate) const VERSION: &str = "dev.agentctl.version";

/// Who makes containers: one executor of one process. Start time and boot tell the process from a later one with the
/// same number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Owner {
    /// Unique to this executor.
    pub(crate) id: String,
    pub(crate) pid: u32,
    pub(crate) start: Option<u64>,
    pub(crate) boot: Option<String>,
    /// Where its number and its time are counted.
    pub(crate) namespaces: Option<String>,
}

impl Owner {
    /// This process.
    pub(crate) fn this_process() -> Self {
        let pid = std::process::id();
        let id = unique(&format!("o{pid}"));
        Self { id, pid, start: start_time("self"), boot: boot_id(), namespaces: namespaces() }
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
        labels.extend(self.namespaces.clone().map(|names| (OWNER_NAMESPACES.to_owned(), names)));
        labels
    }
}

/// Whose a container is, read back from its labels; only if they say everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) pid: u32,
    pub(crate) start: u64,
    pub(crate) boot: String,
    pub(crate) namespaces: String,
    pub(crate) cell: String,
}

impl Mark {
    pub(crate) fn parse(labels: &HashMap<String, String>) -> Option<Self> {
        let text = |key: &str| labels.get(key).filter(|value| !value.is_empty()).cloned();
        text(OWNER)?;
        Some(Self {
            pid: text(OWNER_PID)?.parse().ok()?,
            start: text(OWNER_START)?.parse().ok()?,
            boot: text(OWNER_BOOT)?,
            namespaces: text(OWNER_NAMESPACES)?,
            cell: text(CELL)?,
        })
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

/// When a process began, in the kernel's ticks since the machine did.
pub(crate) fn start_time(process: &str) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in parentheses may contain anything.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(19)?.parse().ok()
}

pub(crate) fn boot_id() -> Option<String> {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok().map(|id| id.trim().to_owned())
}

/// The namespaces of processes and of time: in others the same number is another process, and the same moment another
/// time. Orchestrators in containers of one machine share its boot, and often its engine.
pub(crate) fn namespaces() -> Option<String> {
    let number = |kind: &str| {
        let link = std::fs::read_link(format!("/proc/self/ns/{kind}")).ok()?;
        Some(
            link.to_str()?.trim_start_matches(|c: char| !c.is_ascii_digit()).trim_end_matches(']').to_owned(),
        )
    };
    // Older kernels have one time for all.
    Some(format!("{}.{}", number("pid")?, number("time").unwrap_or_default()))
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
        assert!(Mark::parse(&labels).is_some(), "{labels:?}");
    }
}
