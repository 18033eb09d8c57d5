//! Measures what the processes of a cell use.

use serde::Serialize;

use crate::groups::Mounts;
use crate::members::{Census, group_name};
use crate::network::{self, Namespace};
use crate::record::{CellRecord, Place};
use crate::snapshot::Seen;

/// What the processes of a cell use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Load {
    /// The number of processes, ours included.
    pub processes: usize,
    /// CPU time so far, in milliseconds.
    pub cpu_ms: u64,
    /// Memory in use, in bytes: what the cell's control group is charged with, less file pages the kernel can drop.
    /// If the cell has no such group or it can't be read, the resident memory of its processes, with shared pages
    /// counted for each.
    pub memory_bytes: u64,
    /// Attempts to reach a network without a route, since the cell was created. `None` if the cell shares this
    /// machine's network or the counters can't be read.
    pub network_denials: Option<u64>,
}

impl Load {
    /// The sum of two loads. A value known for only one of them is kept.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let denials = self.network_denials.into_iter().chain(other.network_denials);
        Self {
            processes: self.processes + other.processes,
            cpu_ms: self.cpu_ms.saturating_add(other.cpu_ms),
            memory_bytes: self.memory_bytes.saturating_add(other.memory_bytes),
            network_denials: denials.reduce(u64::saturating_add),
        }
    }
}

/// What has to be known about this machine to measure its cells.
#[derive(Debug)]
pub(crate) struct Meter {
    mounts: Mounts,
    network: Option<Namespace>,
}

impl Meter {
    pub(crate) fn here() -> Self {
        Self { mounts: Mounts::read(), network: Namespace::of("self") }
    }

    /// The load of a cell; `None` if its processes can't be seen from here.
    pub(crate) fn load(&self, record: &CellRecord, census: &Census<'_>) -> Option<Load> {
        if let Some(Place::Container { same_kernel: false, .. }) = record.place {
            return None;
        }
        let members = census.members(record);
        let ticks: u64 = members.iter().map(|seen| seen.stat.ticks).sum();
        let (per_second, page) = units();
        let charged = group_name(record).and_then(|name| self.mounts.memory_of(name, &members));
        Some(Load {
            processes: members.len(),
            cpu_ms: ticks.saturating_mul(1000) / per_second.max(1),
            memory_bytes: charged.unwrap_or_else(|| resident(&members, page)),
            network_denials: self.denials(record, census),
        })
    }

    fn denials(&self, record: &CellRecord, census: &Census<'_>) -> Option<u64> {
        let keeper = match record.place {
            Some(Place::Keeper { keeper, .. }) => Some(keeper.pid),
            _ => None,
        };
        let outside = [Some(record.owner.pid), keeper].into_iter().flatten();
        // The observer may be in another namespace than the cell's creator, and a cell may share either.
        let mut outside: Vec<Namespace> = outside.filter_map(|pid| Namespace::of(&pid.to_string())).collect();
        outside.push(self.network?);
        network::denials(&census.heads(record), &outside)
    }
}

fn resident(members: &[&Seen], page: u64) -> u64 {
    members.iter().map(|seen| seen.stat.pages).sum::<u64>().saturating_mul(page)
}

#[cfg(unix)]
fn units() -> (u64, u64) {
    (rustix::param::clock_ticks_per_second(), rustix::param::page_size() as u64)
}

#[cfg(not(unix))]
fn units() -> (u64, u64) {
    (100, 4096)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unknown_of_all_stays_unknown() {
        let load = |network_denials| Load { processes: 1, cpu_ms: 10, memory_bytes: 100, network_denials };
        let both = |a, b| load(a).and(load(b));
        assert_eq!((both(None, None).processes, both(None, None).memory_bytes), (2, 200));
        assert_eq!(both(None, None).network_denials, None);
        assert_eq!(both(None, Some(0)).network_denials, Some(0));
        assert_eq!(both(Some(2), Some(3)).network_denials, Some(5));
    }
}
