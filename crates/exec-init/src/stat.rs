//! The kernel's view of a process in `/proc/<pid>/stat`.

use rustix::fs::{Mode, OFlags};

use crate::sys::Pid;

/// Set in a process that has begun to exit, before the kernel closes its descriptors.
const PF_EXITING: u32 = 0x4;

/// The fields that matter here.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    state: u8,
    pub(crate) parent: Pid,
    flags: u32,
}

impl Stat {
    pub(crate) fn read(pid: Pid) -> Option<Self> {
        let file =
            rustix::fs::open(format!("/proc/{pid}/stat"), OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
        let mut bytes = [0; 512];
        let count = rustix::io::read(file.ok()?, &mut bytes).ok()?;
        Self::parse(bytes.get(..count)?)
    }

    /// The name, in parentheses, may contain anything, even parentheses and spaces: fields start after the
    /// last parenthesis.
    fn parse(line: &[u8]) -> Option<Self> {
        let name_end = line.iter().rposition(|byte| *byte == b')')?;
        let fields = str::from_utf8(line.get(name_end + 1..)?).ok()?;
        let mut fields = fields.split_ascii_whitespace();
        let state = *fields.next()?.as_bytes().first()?;
        let parent = fields.next()?.parse().ok()?;
        Some(Self { state, parent, flags: fields.nth(4)?.parse().ok()? })
    }

    /// Whether it is a zombie: only its pid is left.
    pub(crate) fn is_dead(&self) -> bool {
        matches!(self.state, b'Z' | b'X')
    }

    /// Whether it has begun to exit and does no more work.
    pub(crate) fn is_ending(&self) -> bool {
        self.is_dead() || self.flags & PF_EXITING != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_can_not_pretend_to_be_fields() {
        let stat = Stat::parse(b"12 (a) R 1 (b)) S 77 12 12 0 -1 4194560 9 0").unwrap();
        assert_eq!(stat, Stat { state: b'S', parent: 77, flags: 4_194_560 });
        assert!(!stat.is_dead() && !stat.is_ending());
    }

    #[test]
    fn one_that_ends_is_told_from_one_that_is_dead() {
        let ending = Stat::parse(b"12 (sh) R 77 12 12 0 -1 4194564 9 0").unwrap();
        assert!(ending.is_ending() && !ending.is_dead());
        let dead = Stat::parse(b"12 (sh) Z 77 12 12 0 -1 0 9 0").unwrap();
        assert!(dead.is_ending() && dead.is_dead());
    }

    #[test]
    fn nonsense_is_not_a_process() {
        for line in ["", "12 (sh", "12 (sh) ", "12 (sh) S x", "12 (sh) S 77 12 12 0 -1 x"] {
            assert_eq!(Stat::parse(line.as_bytes()), None, "{line}");
        }
    }
}
