//! Which process is meant: its number alone may be another's tomorrow, and is another's in another namespace.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::stat::Stat;

/// A process of this machine, told from a later one with the same number by when it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// When it began, in the kernel's ticks since the machine did.
    pub start: u64,
}

impl Process {
    /// The process that has this number now.
    pub fn now(pid: u32) -> Option<Self> {
        start_time(&pid.to_string()).map(|start| Self { pid, start })
    }

    /// Whether it is dead for sure.
    pub fn is_dead(self) -> bool {
        ProcessState::of(self.pid).is_dead(self.start)
    }
}

/// Where process numbers mean what they mean to us.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct World {
    /// This start of the machine.
    pub boot: String,
    /// The namespaces of processes and of time.
    pub namespaces: String,
}

impl World {
    /// This one; none where the system does not say.
    pub fn here() -> Option<Self> {
        // It stays the same for as long as a process lives.
        static HERE: OnceLock<Option<World>> = OnceLock::new();
        HERE.get_or_init(|| Some(Self { boot: boot_id()?, namespaces: namespaces()? })).clone()
    }
}

/// What is known of a process number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "processes can be looked at on Linux only"))]
pub enum ProcessState {
    /// Nobody has it, or one that is dead and was not waited for.
    Gone,
    /// Somebody has it, since this many ticks after the machine began.
    Since(u64),
    /// Somebody has it, and we may not see who.
    Unknown,
}

impl ProcessState {
    /// Of the process with this number.
    #[cfg(target_os = "linux")]
    pub fn of(pid: u32) -> Self {
        use rustix::io::Errno;
        use rustix::process::{Pid, test_kill_process};
        let Some(number) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return Self::Unknown };
        // `/proc` may hide what is alive; a signal that is none tells the truth.
        if test_kill_process(number) == Err(Errno::SRCH) {
            return Self::Gone;
        }
        match Stat::read(&pid.to_string()) {
            Some(stat) if stat.is_alive() => Self::Since(stat.start),
            // Nobody has waited for it yet, but it does nothing and holds nothing any more.
            Some(_) => Self::Gone,
            None => Self::Unknown,
        }
    }

    /// Of the process with this number, where nobody can tell.
    #[cfg(not(target_os = "linux"))]
    pub fn of(_: u32) -> Self {
        Self::Unknown
    }

    /// Whether the one that began then is dead for sure.
    pub fn is_dead(self, start: u64) -> bool {
        match self {
            Self::Gone => true,
            Self::Since(began) => began != start,
            Self::Unknown => false,
        }
    }
}

/// When a process began, in the kernel's ticks since the machine did; `self` is this one.
pub fn start_time(process: &str) -> Option<u64> {
    Stat::read(process).map(|stat| stat.start)
}

/// The machine, where it has a name: a log may lie where several machines write to it. Made of what only this system
/// shall know, so it is not that itself.
pub fn machine() -> Option<&'static str> {
    static MACHINE: OnceLock<Option<String>> = OnceLock::new();
    let named = || {
        let id = std::fs::read_to_string("/etc/machine-id").ok()?;
        // FNV: equal in every version of ours.
        let hash = id.trim().bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        (!id.trim().is_empty()).then(|| format!("{hash:016x}"))
    };
    MACHINE.get_or_init(named).as_deref()
}

/// This start of the machine.
pub fn boot_id() -> Option<String> {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok().map(|id| id.trim().to_owned())
}

/// The namespaces of processes and of time: in others the same number is another process, and the same moment another
/// time. Orchestrators in containers of one machine share its boot, and often its engine.
pub fn namespaces() -> Option<String> {
    let number = |kind: &str| {
        let link = std::fs::read_link(format!("/proc/self/ns/{kind}")).ok()?;
        Some(
            link.to_str()?.trim_start_matches(|c: char| !c.is_ascii_digit()).trim_end_matches(']').to_owned(),
        )
    };
    // Older kernels have one time for all.
    Some(format!("{}.{}", number("pid")?, number("time").unwrap_or_default()))
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;

    /// F12: what this machine says of processes that are known.
    #[test]
    fn processes_are_told_apart() {
        let own = std::process::id();
        assert_eq!(ProcessState::of(own), ProcessState::Since(start_time("self").unwrap()));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        assert_eq!(ProcessState::of(child.id()), ProcessState::Gone);
        assert_eq!(ProcessState::of(0), ProcessState::Unknown);
        let process = Process::now(own).unwrap();
        assert!(!process.is_dead());
        assert!(Process { start: process.start + 1, ..process }.is_dead());
    }
}
