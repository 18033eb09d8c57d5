//! Identifies processes: a pid alone may be reused, and belongs to another process in another namespace.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::procfs;

/// A process of this machine. Its start time distinguishes it from a later one with the same pid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Process {
    /// The pid.
    pub pid: u32,
    /// Start time in clock ticks since boot.
    pub start: u64,
}

impl Process {
    /// The process that has this pid now.
    pub fn now(pid: u32) -> Option<Self> {
        start_time(&pid.to_string()).map(|start| Self { pid, start })
    }

    /// Whether it is certainly dead.
    pub fn is_dead(self) -> bool {
        ProcessState::of(self.pid).is_dead(self.start)
    }
}

/// The scope in which pids have the same meaning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct World {
    /// The boot id.
    pub boot: String,
    /// The PID and time namespaces.
    pub namespaces: String,
}

impl World {
    /// The world of this process; `None` if the system does not report it.
    pub fn here() -> Option<Self> {
        // Constant for the life of a process.
        static HERE: OnceLock<Option<World>> = OnceLock::new();
        HERE.get_or_init(|| Some(Self { boot: boot_id()?, namespaces: namespaces()? })).clone()
    }
}

/// What is known about a pid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "processes can be looked at on Linux only"))]
pub enum ProcessState {
    /// Unused, or a dead process that was not reaped.
    Gone,
    /// Used by a process that started this many clock ticks after boot.
    Since(u64),
    /// Used by a process that can't be inspected.
    Unknown,
}

impl ProcessState {
    /// The state of this pid.
    #[cfg(target_os = "linux")]
    pub fn of(pid: u32) -> Self {
        use rustix::io::Errno;
        use rustix::process::{Pid, test_kill_process};
        let Some(number) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return Self::Unknown };
        // `/proc` may hide living processes; signal 0 does not lie.
        if test_kill_process(number) == Err(Errno::SRCH) {
            return Self::Gone;
        }
        match procfs::stat(&pid.to_string()) {
            Some(stat) if stat.is_alive() => Self::Since(stat.start),
            // A zombie does nothing and holds nothing any more.
            Some(_) => Self::Gone,
            None => Self::Unknown,
        }
    }

    /// The state of a pid can't be determined on this platform.
    #[cfg(not(target_os = "linux"))]
    pub fn of(_: u32) -> Self {
        Self::Unknown
    }

    /// Whether the process that started then is certainly dead.
    pub fn is_dead(self, start: u64) -> bool {
        match self {
            Self::Gone => true,
            Self::Since(began) => began != start,
            Self::Unknown => false,
        }
    }
}

/// When a process started, in clock ticks since boot; `self` is this process.
pub fn start_time(process: &str) -> Option<u64> {
    procfs::stat(process).map(|stat| stat.start)
}

/// An id of the machine, if it has one: several machines may write to one log. It is a hash, because the machine id
/// itself is confidential.
pub fn machine() -> Option<&'static str> {
    static MACHINE: OnceLock<Option<String>> = OnceLock::new();
    let named = || {
        let id = std::fs::read_to_string("/etc/machine-id").ok()?;
        // FNV, because it never changes between versions.
        let hash = id.trim().bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        (!id.trim().is_empty()).then(|| format!("{hash:016x}"))
    };
    MACHINE.get_or_init(named).as_deref()
}

/// The id of this boot.
pub fn boot_id() -> Option<String> {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok().map(|id| id.trim().to_owned())
}

/// The PID and time namespaces: in others the same pid is another process, and the same start time another moment.
/// Orchestrators in containers of one machine share its boot, and often its engine.
pub fn namespaces() -> Option<String> {
    let number = |kind: &str| {
        let link = std::fs::read_link(format!("/proc/self/ns/{kind}")).ok()?;
        Some(
            link.to_str()?.trim_start_matches(|c: char| !c.is_ascii_digit()).trim_end_matches(']').to_owned(),
        )
    };
    // Older kernels have no time namespaces.
    Some(format!("{}.{}", number("pid")?, number("time").unwrap_or_default()))
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;

    /// F12: known processes on this machine.
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
