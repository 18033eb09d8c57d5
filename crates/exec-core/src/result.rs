//! What came of a run.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::{Captured, Isolation, LimitName, Selection, Signal};

/// A finished run: how it ended, and what of its output was kept.
#[derive(Debug, Clone)]
pub struct ExecResult {
    /// How it ended and under what conditions it ran.
    pub outcome: Outcome,
    /// Standard output; with a terminal, everything.
    pub stdout: Captured,
    /// Standard error.
    pub stderr: Captured,
}

impl ExecResult {
    /// It exited by itself with code 0.
    pub fn success(&self) -> bool {
        self.outcome.ended == Ended::Exited && self.outcome.status == Status::Code(0)
    }

    /// The command's exit code, if it exited.
    pub fn exit_code(&self) -> Option<i32> {
        self.outcome.exit_code()
    }

    /// How it ended.
    pub fn ended(&self) -> Ended {
        self.outcome.ended
    }
}

/// How a run ended and under what conditions it ran.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What ended it.
    pub ended: Ended,
    /// The main process's own status, whatever ended it.
    pub status: Status,
    /// From the request to the end, including the making of the cell if none was waiting.
    pub duration: Duration,
    /// What it used.
    pub usage: Usage,
    /// Name of the executor that ran it.
    pub executor: String,
    /// How that one was chosen and why the others were not; none if nobody had a choice.
    pub selection: Option<Arc<Selection>>,
    /// Which isolation held.
    pub isolation: Arc<Isolation>,
    /// Limits it ran into.
    pub limits_hit: Vec<LimitHit>,
    /// What it was refused.
    pub denials: Vec<Denial>,
    /// Processes that could not be killed, by id inside the cell. Empty but for processes in uninterruptible sleep.
    pub survivors: Vec<u32>,
    /// Why the session begins anew with this run, if it does: processes and files outside the workspace that earlier runs left
    /// in it are gone.
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

/// What ended a run. The command's own exit codes never count as anything but `Exited`, whatever their value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// The command, by exiting.
    Exited,
    /// A signal that we did not send to end it.
    Signalled,
    /// Its wall or idle time was up.
    TimedOut,
    /// The caller.
    Cancelled,
    /// The kernel, because the memory it may use was used up.
    OutOfMemory,
    /// It wrote more than it may.
    OutputLimit,
}

/// Exit status of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(Signal),
}

/// What a run used, everything it started included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time, user and system together.
    pub cpu: Duration,
    /// Most memory at once: of the cell where control groups count it, else of its largest process.
    pub peak_memory: u64,
}

/// A limit that a run ran into.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LimitHit {
    /// Which.
    pub limit: LimitName,
    /// One sentence: what the limit was, and the option that raises it.
    pub message: String,
}

impl LimitHit {
    /// The sentence every such message follows.
    pub fn new(limit: LimitName, what: &str) -> Self {
        Self { limit, message: format!("{what}; raise it with {}", limit.option()) }
    }
}

/// Something a run was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Denial {
    /// One readable line.
    pub message: String,
}
