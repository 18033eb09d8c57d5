//! The result of a run.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::{Captured, Change, Isolation, LimitName, Remedy, Selection, Signal};

/// A finished run: how it ended and the output that was kept.
///
/// # Examples
///
/// ```
/// use exec_core::{Ended, ExecResult};
///
/// fn verdict(result: &ExecResult) -> String {
///     match result.ended() {
///         Ended::Exited if result.success() => "passed".to_owned(),
///         Ended::TimedOut => format!("timed out after {:?}", result.outcome.duration),
///         ended => format!("{ended:?}: {}", result.stderr.text()),
///     }
/// }
/// ```
#[derive(Debug, Clone)]
pub struct ExecResult {
    /// How the run ended and under which conditions.
    pub outcome: Outcome,
    /// Standard output; with a terminal, everything.
    pub stdout: Captured,
    /// Standard error.
    pub stderr: Captured,
}

impl ExecResult {
    /// Whether the command exited by itself with code 0.
    pub fn success(&self) -> bool {
        self.outcome.ended == Ended::Exited && self.outcome.status == Status::Code(0)
    }

    /// The command's exit code, if it exited.
    pub fn exit_code(&self) -> Option<i32> {
        self.outcome.exit_code()
    }

    /// What ended the run.
    pub fn ended(&self) -> Ended {
        self.outcome.ended
    }
}

/// How a run ended and under which conditions.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What ended the run.
    pub ended: Ended,
    /// The main process's own status, whatever ended the run.
    pub status: Status,
    /// From the request to the end, including the time to make a cell if none was warm.
    pub duration: Duration,
    /// Resources used.
    pub usage: Usage,
    /// The name of the executor that ran the command.
    pub executor: String,
    /// How that executor was chosen and why others were not; `None` if there was nothing to choose.
    pub selection: Option<Arc<Selection>>,
    /// The isolation that held.
    pub isolation: Arc<Isolation>,
    /// Limits that the run hit.
    pub limits_hit: Vec<LimitHit>,
    /// Operations that were denied.
    pub denials: Vec<Denial>,
    /// Processes that could not be killed, by their ids inside the cell: only those in uninterruptible sleep.
    pub survivors: Vec<u32>,
    /// Why the session was reopened for this run, if it was: processes and files outside the workspace that earlier runs
    /// left in the session are gone.
    pub reopened: Option<String>,
}

impl Outcome {
    /// The command's exit code, if it exited.
    pub fn exit_code(&self) -> Option<i32> {
        match self.status {
            Status::Code(code) => Some(code),
            Status::Signal(_) => None,
        }
    }

    /// The signal that ended the command, if one did.
    pub fn signal(&self) -> Option<Signal> {
        match self.status {
            Status::Code(_) => None,
            Status::Signal(signal) => Some(signal),
        }
    }
}

/// What ended a run. The command's own exit code is always `Exited`, whatever its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// The command exited.
    Exited,
    /// A signal ended the command, other than one sent to stop the run.
    Signalled,
    /// The wall time or idle time was exceeded.
    TimedOut,
    /// The caller cancelled the run.
    Cancelled,
    /// The kernel killed the command at its memory limit.
    OutOfMemory,
    /// The output limit was exceeded.
    OutputLimit,
}

/// Exit status of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// The process exited with this code.
    Code(i32),
    /// This signal ended the process.
    Signal(Signal),
}

/// Resources used by a run, including everything it started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time, user and system together.
    pub cpu: Duration,
    /// Peak memory in bytes: of the cell where control groups count it, otherwise of the largest process.
    pub peak_memory: u64,
}

/// A limit that a run hit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LimitHit {
    /// The limit.
    pub limit: LimitName,
    /// One sentence with the limit's value.
    pub message: String,
    /// The option that raises it.
    pub remedy: Remedy,
}

impl LimitHit {
    /// Adds the option that raises the limit to `message`.
    pub fn new(limit: LimitName, message: impl Into<String>) -> Self {
        Self { limit, message: message.into(), remedy: Change::raise(limit.option()).into() }
    }
}

/// An operation that was denied to a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Denial {
    /// One readable line.
    pub message: String,
}
