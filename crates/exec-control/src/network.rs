//! Counts how often the processes of a cell tried to reach a network without a route. A cell without a network has
//! its own namespace in which no route leads out, and there the kernel counts what it refuses, whichever program
//! asks.

use std::fs;

use crate::snapshot::Seen;

/// A network namespace, identified by the table the kernel shows in it. The namespace file itself is readable by
/// fewer users: not by an ordinary user if PID 1 is not dumpable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Namespace {
    device: u64,
    table: u64,
}

impl Namespace {
    /// The namespace of the process with this pid; `self` is this process.
    #[cfg(unix)]
    pub(crate) fn of(process: &str) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let table = fs::metadata(format!("/proc/{process}/net/snmp")).ok()?;
        Some(Self { device: table.dev(), table: table.ino() })
    }

    /// Other platforms have none.
    #[cfg(not(unix))]
    pub(crate) fn of(_: &str) -> Option<Self> {
        None
    }
}

/// The denials counted in a cell's namespace since it was created; `heads` are its first processes. `None` if that
/// namespace is one of `outside`, which count for every process there, or if it can't be read from here.
pub(crate) fn denials(heads: &[&Seen], outside: &[Namespace]) -> Option<u64> {
    let pid = heads.first()?.process.pid.to_string();
    Namespace::of(&pid).filter(|its| !outside.contains(its))?;
    let read = |table: &str| fs::read_to_string(format!("/proc/{pid}/net/{table}"));
    let old = counted(&read("snmp").ok()?)?;
    // A kernel may lack IPv6.
    let new = read("snmp6").ok().and_then(|table| counted6(&table)).unwrap_or(0);
    Some(old.saturating_add(new))
}

/// Parses `Ip: NAME NAME …` followed by `Ip: NUMBER NUMBER …`.
fn counted(table: &str) -> Option<u64> {
    let mut lines = table.lines().filter_map(|line| line.strip_prefix("Ip: "));
    let (names, numbers) = (lines.next()?, lines.next()?);
    let mut pairs = names.split_whitespace().zip(numbers.split_whitespace());
    pairs.find(|(name, _)| *name == "OutNoRoutes")?.1.parse().ok()
}

/// Parses lines of `NAME NUMBER`.
fn counted6(table: &str) -> Option<u64> {
    table.lines().find_map(|line| line.strip_prefix("Ip6OutNoRoutes"))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SNMP: &str = "Ip: Forwarding DefaultTTL OutDiscards OutNoRoutes ReasmTimeout\n\
        Ip: 2 64 7 3 0\n\
        Icmp: InMsgs OutNoRoutes\n\
        Icmp: 5 9\n";

    #[test]
    fn the_counter_is_found_by_its_name() {
        assert_eq!(counted(SNMP), Some(3));
        assert_eq!(counted6("Ip6InReceives    \t1\nIp6OutNoRoutes                  \t12\n"), Some(12));
    }

    #[test]
    fn what_is_not_there_is_unknown_and_not_zero() {
        for table in ["", "Ip: OutNoRoutes\n", "Ip: Forwarding\nIp: 2\n", "Ip: OutNoRoutes\nIp: x\n"] {
            assert_eq!(counted(table), None, "{table}");
        }
        assert_eq!(counted6("Ip6OutRequests 4\n"), None);
    }

    /// Our own namespace counts for the whole machine.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_shares_our_network_is_not_counted() {
        let all = crate::snapshot::take();
        let pid = std::process::id();
        let own: Vec<&Seen> = all.iter().filter(|seen| seen.process.pid == pid).collect();
        assert_eq!(own.len(), 1);
        assert_eq!(denials(&own, &[Namespace::of("self").unwrap()]), None);
        assert!(denials(&own, &[]).is_some(), "seen from another namespace, it is a separate one");
    }
}
