//! What the kernel reports about one process in `/proc/<pid>/stat`. Pure except for the reading.

use crate::procfs;

/// The fields of a process that are used here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stat {
    /// Its name, without arguments.
    pub(crate) name: String,
    /// The kernel's letter for its state: `R`, `S`, `D` …
    pub(crate) state: char,
    /// Its parent.
    pub(crate) parent: u32,
    /// Its process group.
    pub(crate) group: u32,
    /// Its session.
    pub(crate) session: u32,
    /// CPU time in clock ticks, including children it has reaped.
    pub(crate) ticks: u64,
    /// How many threads it has.
    pub(crate) threads: u64,
    /// Start time in clock ticks since boot.
    pub(crate) start: u64,
    /// Resident memory, in pages.
    pub(crate) pages: u64,
}

impl Stat {
    /// Reads the process with this pid; `self` is this process.
    pub(crate) fn read(process: &str) -> Option<Self> {
        Self::parse(&procfs::read(&format!("{process}/stat"))?)
    }

    /// Parses `pid (name) state ppid pgrp …`; the name may contain anything.
    fn parse(stat: &str) -> Option<Self> {
        let (head, fields) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
        Some(Self {
            name: head.split_once('(')?.1.to_owned(),
            state: fields.first()?.chars().next()?,
            parent: number(1)? as u32,
            group: number(2)? as u32,
            session: number(3)? as u32,
            ticks: (11..15).filter_map(number).sum(),
            threads: number(17)?,
            start: number(19)?,
            pages: number(21).unwrap_or(0),
        })
    }

    /// Whether it still runs. A zombie does not; but the letter is that of the first thread, and the other threads
    /// go on if only that one ends.
    pub(crate) fn is_alive(&self) -> bool {
        !matches!(self.state, 'Z' | 'X') || self.threads > 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_contain_anything() {
        let stat = "7 (a) b (c) D 3 5 6 0 -1 4 1 2 3 4 10 20 30 40 20 0 1 0 99 4096 6 x";
        let expected = Stat {
            name: "a) b (c".into(),
            state: 'D',
            parent: 3,
            group: 5,
            session: 6,
            ticks: 100,
            threads: 1,
            start: 99,
            pages: 6,
        };
        assert_eq!(Stat::parse(stat), Some(expected));
        assert_eq!(Stat::parse("7 (x"), None);
    }

    /// F12
    #[test]
    fn a_process_is_dead_when_all_of_its_threads_are() {
        let is_alive = |state: char, threads: u64| {
            let stat = format!("7 (x) {state} 3 5 6 0 -1 4 1 2 3 4 10 20 30 40 20 0 {threads} 0 99 4096 6");
            Stat::parse(&stat).unwrap().is_alive()
        };
        assert!(is_alive('S', 1) && is_alive('T', 1) && is_alive('D', 1));
        assert!(!is_alive('Z', 1) && !is_alive('Z', 0) && !is_alive('X', 0));
        assert!(is_alive('Z', 2), "its first thread has ended, another has not");
    }
}
