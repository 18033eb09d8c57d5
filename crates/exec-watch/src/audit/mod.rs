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

/// The variable that says whether there is a log: `off`, `on` or `required`.
pub const AUDIT_VARIABLE: &str = "AGENTCTL_AUDIT";

/// The log grows to this size before a new one is begun.
const DEFAULT_SIZE: u64 = 16 << 20;

/// Whether runs are logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Audit {
    /// They are not.
    Off,
    /// They are, if that can be done.
    On(AuditFile),
    /// They are, or they do not start.
    Required(AuditFile),
}

/// Where the log is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditFile {
    /// The file; none where nobody knows where to put it.
    pub path: Option<PathBuf>,
    /// How large it may become before it is put aside.
    pub size: u64,
}

impl AuditFile {
    /// This file.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: Some(path.into()), size: DEFAULT_SIZE }
    }
}

impl Audit {
    /// As the environment says: on by default, in `agentctl/audit.jsonl` below `XDG_STATE_HOME` or `~/.local/state`.
    pub fn of_this_user() -> Self {
        let file = AuditFile { path: UserDirs::here().audit_file, size: DEFAULT_SIZE };
        let wanted = std::env::var_os(AUDIT_VARIABLE).filter(|value| !value.is_empty());
        match wanted.as_deref().and_then(|value| value.to_str()) {
            Some("off") => Self::Off,
            None | Some("on") => Self::On(file),
            // A word that is no word for it is taken for the strictest.
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
