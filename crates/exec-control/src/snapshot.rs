//! All visible processes of this machine at one moment.

use std::fs;

use exec_wire::procfs::Stat;

use crate::process::Process;
use crate::procfs;

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
    let stat = procfs::stat(&pid.to_string())?;
    let groups = procfs::read(&format!("{pid}/cgroup")).unwrap_or_default();
    Some(Seen { process: Process { pid, start: stat.start }, stat, groups })
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn this_process_is_among_them() {
        let own = Process::now(std::process::id()).unwrap();
        assert!(take().iter().any(|seen| seen.process == own && seen.stat.is_alive()));
    }

    /// F12: a command chooses the names of its processes, and none of them hides one.
    #[test]
    fn a_process_is_seen_whatever_its_name() {
        use std::process::{Command, Stdio};
        let rename = r"printf 'a) Z 1\n\377 (' >/proc/$$/comm && echo && read -r end";
        let mut sh = Command::new("sh");
        let mut child = sh.args(["-c", rename]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = [0];
        child.stdout.take().unwrap().read_exact(&mut line).unwrap();
        let found = take().into_iter().find(|seen| seen.process.pid == child.id());
        drop(child.stdin.take());
        child.wait().unwrap();
        let stat = found.expect("it is alive").stat;
        assert_eq!((stat.name.as_str(), stat.parent), ("a) Z 1\n\u{fffd} (", std::process::id()));
    }
}
