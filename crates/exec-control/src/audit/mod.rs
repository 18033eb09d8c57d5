//! The audit log: one line when a run starts, one when it ends, each a JSON object.

mod line;
mod log;
mod open_runs;
mod read;

use std::path::PathBuf;

use exec_files::UserDirs;
pub(crate) use line::{EndLine, StartLine};
pub(crate) use log::AuditLog;
pub(crate) use open_runs::{OpenRun, Reading};
pub(crate) use read::Extent;

/// The variable that selects whether runs are logged: `off`, `on` or `required`.
pub const AUDIT_VARIABLE: &str = "AGENTCTL_AUDIT";

/// The size at which the log is rotated.
const DEFAULT_SIZE: u64 = 16 << 20;

/// Whether runs are logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Audit {
    /// Runs are not logged.
    Off,
    /// Runs are logged if possible.
    On(AuditFile),
    /// Runs that can't be logged do not start.
    Required(AuditFile),
}

/// The location of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditFile {
    /// The file; `None` if no default location is known.
    pub path: Option<PathBuf>,
    /// The size at which the file is rotated.
    pub size: u64,
}

impl AuditFile {
    /// A log at this path, with the default size.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: Some(path.into()), size: DEFAULT_SIZE }
    }
}

impl Audit {
    /// Reads the environment. The default is on, in `agentctl/audit.jsonl` below `XDG_STATE_HOME` or
    /// `~/.local/state`.
    pub fn of_this_user() -> Self {
        let file = AuditFile { path: UserDirs::here().audit_file, size: DEFAULT_SIZE };
        let wanted = std::env::var_os(AUDIT_VARIABLE).filter(|value| !value.is_empty());
        match wanted.as_deref().and_then(|value| value.to_str()) {
            Some("off") => Self::Off,
            None | Some("on") => Self::On(file),
            // An unknown word counts as the strictest setting.
            Some(_) => Self::Required(file),
        }
    }

    pub(crate) fn open(self) -> Option<AuditLog> {
        match self {
            Self::Off => None,
            Self::On(file) => Some(AuditLog::new(file, log::Rigour::BestEffort)),
            Self::Required(file) => Some(AuditLog::new(file, log::Rigour::Required)),
        }
    }
}
