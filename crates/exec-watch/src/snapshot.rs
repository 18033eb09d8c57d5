//! All visible processes of this machine at one moment.

use std::fs;

use crate::process::Process;
use crate::procfs;
use crate::stat::Stat;

/// One process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Its identity.
    pub(crate) process: Process,
    /// Its state and what it uses.
    pub(crate) stat: Stat,
    /// Its control groups, as `/proc` shows them.
    pub(crate) groups: String,
}

/// Lists all visible processes. Empty without `/proc`.
pub(crate) fn take() -> Vec<Seen> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers.filter_map(look).collect()
}

fn look(pid: u32) -> Option<Seen> {
    let stat = Stat::read(&pid.to_string())?;
    let groups = procfs::read(&format!("{pid}/cgroup")).unwrap_or_default();
    Some(Seen { process: Process { pid, start: stat.start }, stat, groups })
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_among_them() {
        let own = Process::now(std::process::id()).unwrap();
        assert!(take().iter().any(|seen| seen.process == own && seen.stat.is_alive()));
    }
}
