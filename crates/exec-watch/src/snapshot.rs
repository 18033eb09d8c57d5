//! All processes of this machine at one moment, as far as they can be seen.

use std::fs;

use crate::process::Process;

/// One process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Which.
    pub(crate) process: Process,
    /// Its parent.
    pub(crate) parent: u32,
    /// Its process group.
    pub(crate) group: u32,
    /// Its session.
    pub(crate) session: u32,
    /// The kernel's letter for what it does: `R`, `S`, `D` …
    pub(crate) state: char,
    /// Its name, without arguments.
    pub(crate) name: String,
    /// Processor time, in the kernel's ticks, of children that it has waited for too.
    pub(crate) ticks: u64,
    /// Memory of its own that is in use, in pages.
    pub(crate) pages: u64,
    /// The control groups it is in, as `/proc` shows them.
    pub(crate) groups: String,
}

impl Seen {
    /// Whether it still does anything.
    pub(crate) fn is_alive(&self) -> bool {
        !matches!(self.state, 'Z' | 'X')
    }
}

/// All that can be seen now. Empty where there is no `/proc`.
pub(crate) fn take() -> Vec<Seen> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers.filter_map(look).collect()
}

fn look(pid: u32) -> Option<Seen> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
    parse(pid, &stat, groups)
}

/// `pid (name) state ppid pgrp …`; the name may contain anything.
fn parse(pid: u32, stat: &str, groups: String) -> Option<Seen> {
    let (head, fields) = stat.rsplit_once(')')?;
    let name = head.split_once('(')?.1.to_owned();
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let ticks = (11..15).filter_map(number).sum();
    Some(Seen {
        process: Process { pid, start: number(19)? },
        parent: number(1)? as u32,
        group: number(2)? as u32,
        session: number(3)? as u32,
        state: fields.first()?.chars().next()?,
        name,
        ticks,
        pages: number(21).unwrap_or(0),
        groups,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_contain_anything() {
        let stat = "7 (a) b (c) D 3 5 5 0 -1 4 1 2 3 4 10 20 30 40 20 0 1 0 99 4096 6 x";
        let seen = parse(7, stat, "0::/x\n".into()).unwrap();
        assert_eq!((seen.name.as_str(), seen.state, seen.parent, seen.group), ("a) b (c", 'D', 3, 5));
        assert_eq!((seen.process, seen.ticks, seen.pages), (Process { pid: 7, start: 99 }, 100, 6));
        assert!(parse(7, "7 (x", String::new()).is_none());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_is_among_them() {
        let own = Process::now(std::process::id()).unwrap();
        assert!(take().iter().any(|seen| seen.process == own && seen.is_alive()));
    }
}
