//! `/proc/<pid>/stat`.

/// Set in a process that has begun to exit, before the kernel closes its descriptors.
const PF_EXITING: u32 = 0x4;

/// What the kernel reports about one process, as far as it is used here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// Its name, without arguments. The process itself chooses it.
    pub name: String,
    /// The kernel's letter for its state: `R`, `S`, `D` …
    pub state: char,
    /// Its parent.
    pub parent: u32,
    /// Its process group.
    pub group: u32,
    /// Its session.
    pub session: u32,
    /// The kernel's `PF_` flags.
    pub flags: u32,
    /// CPU time in clock ticks, including children it has reaped.
    pub ticks: u64,
    /// How many threads it has.
    pub threads: u64,
    /// Start time in clock ticks since boot.
    pub start: u64,
    /// Resident memory, in pages.
    pub pages: u64,
}

impl Stat {
    /// Parses `pid (name) state ppid pgrp …`.
    ///
    /// The name may contain anything, even spaces, parentheses, newlines and bytes that are not text. No field after it
    /// contains a parenthesis, so the last one ends the name.
    pub fn parse(stat: &[u8]) -> Option<Self> {
        let name_start = stat.iter().position(|byte| *byte == b'(')? + 1;
        let name_end = stat.iter().rposition(|byte| *byte == b')')?;
        let fields = str::from_utf8(stat.get(name_end + 1..)?).ok()?;
        let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
        let id = |at: usize| fields.get(at)?.parse::<u32>().ok();
        let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
        Some(Self {
            name: String::from_utf8_lossy(stat.get(name_start..name_end)?).into_owned(),
            state: fields.first()?.chars().next()?,
            parent: id(1)?,
            group: id(2)?,
            session: id(3)?,
            flags: id(6)?,
            ticks: (11..15).filter_map(number).sum(),
            threads: number(17)?,
            start: number(19)?,
            pages: number(21).unwrap_or(0),
        })
    }

    /// Whether it still runs. A zombie does not; but the letter is that of the first thread, and the other threads
    /// go on if only that one ends.
    pub fn is_alive(&self) -> bool {
        !matches!(self.state, 'Z' | 'X') || self.threads > 1
    }

    /// Whether it has begun to exit and does no more work.
    pub fn is_ending(&self) -> bool {
        !self.is_alive() || self.flags & PF_EXITING != 0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FIELDS: &str = "D 3 5 6 0 -1 4194560 1 2 3 4 10 20 30 40 20 0 1 0 99 4096 6 x";

    fn named(name: &[u8]) -> Stat {
        let line = [b"7 (", name, b") ", FIELDS.as_bytes(), b"\n"].concat();
        Stat::parse(&line).unwrap()
    }

    #[test]
    fn fields_are_read() {
        let expected = Stat {
            name: "sh".into(),
            state: 'D',
            parent: 3,
            group: 5,
            session: 6,
            flags: 4_194_560,
            ticks: 100,
            threads: 1,
            start: 99,
            pages: 6,
        };
        assert_eq!(named(b"sh"), expected);
    }

    /// F12: a process can't hide, or pass for another, by its name.
    #[test]
    fn a_name_may_contain_anything() {
        for name in ["", " ", ")", "(", "a) b (c", "a) R 1 2 3 (b", "two\nlines", "7 (x) Z 1 1 1"] {
            assert_eq!(named(name.as_bytes()), Stat { name: name.into(), ..named(b"") }, "{name}");
        }
        assert_eq!(named(b"a\xff) b").name, "a\u{fffd}) b");
    }

    #[test]
    fn nonsense_is_not_a_process() {
        let truncated = "7 (x) D 3 5 6 0 -1 4 1 2 3 4 10 20 30 40 20 0 1 0";
        for line in ["", "7 (x", "7 x)", "7 )x(", "7 (x) ", "7 (x) D y", truncated, "7 (x) \u{ff} 1 1"] {
            assert_eq!(Stat::parse(line.as_bytes()), None, "{line}");
        }
    }

    fn stat(state: char, flags: u32, threads: u64) -> Stat {
        Stat { state, flags, threads, ..named(b"x") }
    }

    /// F12
    #[test]
    fn a_process_is_dead_when_all_of_its_threads_are() {
        let is_alive = |state, threads| stat(state, 0, threads).is_alive();
        assert!(is_alive('S', 1) && is_alive('T', 1) && is_alive('D', 1));
        assert!(!is_alive('Z', 1) && !is_alive('Z', 0) && !is_alive('X', 0));
        assert!(is_alive('Z', 2), "its first thread has ended, another has not");
    }

    #[test]
    fn an_exiting_process_is_ending_before_it_is_dead() {
        let exiting = stat('R', 0x40_0104, 1);
        assert!(exiting.is_ending() && exiting.is_alive());
        assert!(stat('Z', 0, 0).is_ending());
        assert!(!stat('S', 0x40_0100, 1).is_ending());
    }

    proptest! {
        #[test]
        fn a_name_never_changes_the_fields(name: Vec<u8>) {
            prop_assert_eq!(Stat { name: String::new(), ..named(&name) }, named(b""));
        }

        #[test]
        fn any_bytes_are_survived(bytes: Vec<u8>) {
            let _ = Stat::parse(&bytes);
        }
    }
}
