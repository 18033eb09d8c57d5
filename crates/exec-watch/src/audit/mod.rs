//! The audit log: one line when a run starts, one when it ends, each a JSON object.

mod line;
mod log;
mod open_runs;
mod read;

use std::path::PathBuf;

pub(crate) use line::{EndLine, StartLine};
pub(crate) use log::AuditLog;
pub(crate) use open_runs::{OpenRun, Reading};
pub(crate) use read::Extent;

/// The variable that says whether there is a log: `off`, `on` or `required`.
pub const AUDIT_VARIABLE: &str = "AGENTCTL_AUDIT";

/// The variable that says where it is.
pub const AUDIT_FILE_VARIABLE: &str = "AGENTCTL_AUDIT_FILE";

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
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let path = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let state = path("XDG_STATE_HOME").or_else(|| path("HOME").map(|home| home.join(".local/state")));
        let file = AuditFile {
            path: path(AUDIT_FILE_VARIABLE).or_else(|| Some(state?.join("agentctl/audit.jsonl"))),
            size: DEFAULT_SIZE,
        };
        match variable(AUDIT_VARIABLE).as_deref().and_then(|value| value.to_str()) {
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
