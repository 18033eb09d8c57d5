//! What a cell was asked for and could not have.

use std::fmt;

use crate::codec::{byte_enum, struct_fields};

/// Something that could not be had, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// What it is about.
    pub about: Subject,
    /// The reason.
    pub why: String,
}
struct_fields!(Note { about, why } lists {});

impl Note {
    /// A note with this reason.
    pub fn new(about: Subject, why: impl fmt::Display) -> Self {
        Self { about, why: why.to_string() }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.about, self.why)
    }
}

/// What a cell can lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// The promise that no program raises its privileges.
    NoNewPrivileges,
    /// The loss of all capabilities.
    Capabilities,
    /// The protection of PID 1 from being read and traced.
    NotDumpable,
    /// The ban on core dumps.
    CoreDumps,
    /// Our system call filter.
    SyscallFilter,
    /// The kernel's Landlock.
    Landlock,
    /// Any control group.
    ControlGroups,
    /// The limit of memory.
    Memory,
    /// The limit of processes.
    Pids,
    /// The limit of CPU time.
    Cpu,
    /// A share of its user's quotas.
    Quotas,
}
byte_enum!(Subject, "subject", {
    NoNewPrivileges = 0, Capabilities = 1, NotDumpable = 2, CoreDumps = 3, SyscallFilter = 4, Landlock = 5,
    ControlGroups = 6, Memory = 7, Pids = 8, Cpu = 9, Quotas = 10,
});

impl Subject {
    /// The name; of a limit, that of its controller.
    pub fn name(self) -> &'static str {
        match self {
            Self::NoNewPrivileges => "no new privileges",
            Self::Capabilities => "capabilities",
            Self::NotDumpable => "not dumpable",
            Self::CoreDumps => "core dumps",
            Self::SyscallFilter => "system call filter",
            Self::Landlock => "landlock",
            Self::ControlGroups => "control groups",
            Self::Memory => "memory",
            Self::Pids => "pids",
            Self::Cpu => "cpu",
            Self::Quotas => "the command can use up its user's quota",
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
