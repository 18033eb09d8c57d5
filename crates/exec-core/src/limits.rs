//! Resource limits of a run.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use crate::{ByteSize, Cpus};

/// One limit: left to the preset, set explicitly, or lifted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Limit<T> {
    /// The preset's value, as far as the backend can enforce it; the result reports where it can't.
    #[default]
    Preset,
    /// This value. It is enforced, or the run is refused.
    Exactly(T),
    /// No limit.
    Unlimited,
}

impl<T: Copy> Limit<T> {
    fn or(self, preset: Option<T>) -> Option<T> {
        match self {
            Self::Preset => preset,
            Self::Exactly(value) => Some(value),
            Self::Unlimited => None,
        }
    }

    /// Whether the caller set a value.
    pub fn is_explicit(self) -> bool {
        matches!(self, Self::Exactly(_))
    }
}

/// What happens when an explicit limit can't be enforced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum LimitPolicy {
    /// The run is refused.
    #[default]
    Require,
    /// The command runs, and the isolation report names the limits that were not enforced.
    Report,
}

/// A named set of limits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// 2 CPUs, 2 GiB, 1024 processes, 5 minutes.
    #[default]
    Default,
    /// For compiling: all CPUs, three quarters of the memory, 4096 processes, 30 minutes.
    Build,
    /// For untrusted commands: 2 CPUs, 512 MiB, 32 processes, 30 seconds, small `/tmp`.
    Strict,
}

/// Limits as requested.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits {
    /// The source of limits that are not set.
    pub preset: Preset,
    /// Memory of all processes together, swap and `/tmp` included.
    pub memory: Limit<ByteSize>,
    /// CPU time per wall time.
    pub cpus: Limit<Cpus>,
    /// Processes and threads at once.
    pub pids: Limit<u32>,
    /// Open files per process.
    pub open_files: Limit<u32>,
    /// Size of one written file.
    pub file_size: Limit<ByteSize>,
    /// Size of `/tmp` and of the private home directory, each.
    pub tmp_size: Limit<ByteSize>,
    /// Bytes of output after which the run is ended.
    pub output: Limit<ByteSize>,
    /// Wall time.
    pub timeout: Limit<Duration>,
    /// What happens when an explicit limit can't be enforced.
    pub policy: LimitPolicy,
}

/// Limits with the preset filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedLimits {
    /// Memory of all processes together.
    pub memory: Option<ByteSize>,
    /// CPU time per wall time.
    pub cpus: Option<Cpus>,
    /// Processes and threads at once.
    pub pids: Option<u32>,
    /// Open files per process.
    pub open_files: Option<u32>,
    /// Size of one written file.
    pub file_size: Option<ByteSize>,
    /// Size of `/tmp` and of the private home directory, each.
    pub tmp_size: ByteSize,
    /// Size of `/run`.
    pub run_size: ByteSize,
    /// Bytes of output after which the run is ended.
    pub output: Option<ByteSize>,
    /// Wall time.
    pub timeout: Option<Duration>,
    /// Limits that the caller set and requires: a run is refused if one of them can't be enforced.
    pub required: Vec<LimitName>,
}

/// A resource that can be limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitName {
    /// Memory.
    Memory,
    /// CPU time per wall time.
    Cpus,
    /// Processes.
    Pids,
    /// Wall time.
    WallTime,
    /// Time without output.
    IdleTime,
    /// Bytes of output.
    Output,
}

impl LimitName {
    /// The configuration name of the option that sets it.
    pub fn option(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Cpus => "cpus",
            Self::Pids => "pids",
            Self::WallTime => "timeout",
            Self::IdleTime => "idle_timeout",
            Self::Output => "max_output",
        }
    }
}

impl fmt::Display for LimitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Memory => "memory",
            Self::Cpus => "CPUs",
            Self::Pids => "processes",
            Self::WallTime => "wall time",
            Self::IdleTime => "idle time",
            Self::Output => "output",
        })
    }
}

/// The size of a machine, which the `build` preset depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Machine {
    /// Its processors.
    pub cpus: u16,
    /// Its memory, if known.
    pub memory: Option<ByteSize>,
}

impl Limits {
    /// Fills in the preset for a machine of this size.
    pub fn resolve(&self, machine: Machine) -> ResolvedLimits {
        let minutes = |count: u64| Duration::from_secs(count * 60);
        let (cpus, memory, pids, timeout, tmp) = match self.preset {
            Preset::Default => (Cpus::whole(2), Some(ByteSize::gib(2)), 1024, minutes(5), ByteSize::gib(1)),
            Preset::Build => {
                let memory = machine.memory.map(|all| ByteSize::bytes(all.get() / 4 * 3));
                (Cpus::whole(machine.cpus), memory, 4096, minutes(30), ByteSize::gib(1))
            }
            Preset::Strict => {
                (Cpus::whole(2), Some(ByteSize::mib(512)), 32, Duration::from_secs(30), ByteSize::mib(50))
            }
        };
        let explicit = [
            (LimitName::Memory, self.memory.is_explicit()),
            (LimitName::Cpus, self.cpus.is_explicit()),
            (LimitName::Pids, self.pids.is_explicit()),
        ];
        let required = match self.policy {
            LimitPolicy::Require => {
                explicit.iter().filter(|(_, named)| *named).map(|(name, _)| *name).collect()
            }
            LimitPolicy::Report => Vec::new(),
        };
        ResolvedLimits {
            memory: self.memory.or(memory),
            // More CPUs than the machine has limit nothing, and engines refuse them.
            cpus: self.cpus.or(Some(cpus.min(Cpus::whole(machine.cpus)))),
            pids: self.pids.or(Some(pids)),
            open_files: self.open_files.or(None),
            file_size: self.file_size.or(None),
            tmp_size: self.tmp_size.or(Some(tmp)).unwrap_or(ByteSize::gib(1 << 10)),
            run_size: ByteSize::mib(10),
            output: self.output.or(None),
            timeout: self.timeout.or(Some(timeout)),
            required,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: Machine = Machine { cpus: 16, memory: Some(ByteSize::gib(64)) };

    /// R40
    #[test]
    fn presets_are_as_documented() {
        let of = |preset| Limits { preset, ..Limits::default() }.resolve(MACHINE);
        let default = of(Preset::Default);
        assert_eq!((default.cpus, default.memory), (Some(Cpus::whole(2)), Some(ByteSize::gib(2))));
        assert_eq!((default.pids, default.timeout), (Some(1024), Some(Duration::from_secs(300))));
        let build = of(Preset::Build);
        assert_eq!((build.cpus, build.memory), (Some(Cpus::whole(16)), Some(ByteSize::gib(48))));
        let strict = of(Preset::Strict);
        assert_eq!((strict.memory, strict.tmp_size), (Some(ByteSize::mib(512)), ByteSize::mib(50)));
        assert_eq!((strict.pids, strict.timeout), (Some(32), Some(Duration::from_secs(30))));
    }

    #[test]
    fn a_preset_asks_for_no_more_cpus_than_there_are() {
        let single = Machine { cpus: 1, ..MACHINE };
        assert_eq!(Limits::default().resolve(single).cpus, Some(Cpus::whole(1)));
        let named = Limits { cpus: Limit::Exactly(Cpus::whole(4)), ..Limits::default() };
        assert_eq!(named.resolve(single).cpus, Some(Cpus::whole(4)), "an explicit value is not changed");
    }

    /// R41
    #[test]
    fn only_what_was_named_is_required() {
        let mut limits = Limits { memory: Limit::Exactly(ByteSize::mib(64)), ..Limits::default() };
        assert_eq!(limits.resolve(MACHINE).required, [LimitName::Memory]);
        limits.policy = LimitPolicy::Report;
        assert!(limits.resolve(MACHINE).required.is_empty());
    }
}
