//! A result as one JSON object with stable field names.

use serde::Serialize;

use crate::{Denial, Ended, ExecResult, Isolation, LimitHit, Remedy, Selection, Signal};

/// The object that `--json` prints.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The command's exit code, if it exited.
    pub exit_code: Option<i32>,
    /// The signal that ended the command, if one did.
    pub signal: Option<Signal>,
    /// What ended the run.
    pub ended: Ended,
    /// Standard output as text.
    pub stdout: String,
    /// Standard error as text.
    pub stderr: String,
    /// Bytes of standard output that were not kept.
    pub stdout_omitted: u64,
    /// Bytes of standard error that were not kept.
    pub stderr_omitted: u64,
    /// Milliseconds from the request to the end.
    pub duration_ms: f64,
    /// Resources used.
    pub usage: UsageReport,
    /// The name of the executor that ran the command.
    pub executor: String,
    /// How that executor was chosen and why others were not; null if there was nothing to choose.
    pub selection: Option<Selection>,
    /// The isolation that held.
    pub isolation: Isolation,
    /// Limits that the run hit.
    pub limits_hit: Vec<LimitHit>,
    /// Operations that were denied.
    pub denials: Vec<Denial>,
    /// Processes that could not be killed.
    pub survivors: Vec<u32>,
    /// Why the session was reopened for this run, if it was.
    pub reopened: Option<String>,
}

impl Report {
    /// Every remedy in it, for a front end that replaces them with its own words.
    pub fn remedies_mut(&mut self) -> impl Iterator<Item = &mut Remedy> {
        let passed_over = self.selection.iter_mut().flat_map(|selection| &mut selection.passed_over);
        passed_over
            .map(|other| &mut other.remedy)
            .chain(self.limits_hit.iter_mut().map(|hit| &mut hit.remedy))
    }
}

/// Resources used by a run.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct UsageReport {
    /// Milliseconds of CPU time.
    pub cpu_ms: f64,
    /// Peak memory in bytes.
    pub peak_memory_bytes: u64,
}

impl From<&ExecResult> for Report {
    fn from(result: &ExecResult) -> Self {
        let outcome = &result.outcome;
        Self {
            exit_code: outcome.exit_code(),
            signal: outcome.signal(),
            ended: outcome.ended,
            stdout: result.stdout.text(),
            stderr: result.stderr.text(),
            stdout_omitted: result.stdout.omitted(),
            stderr_omitted: result.stderr.omitted(),
            duration_ms: outcome.duration.as_secs_f64() * 1e3,
            usage: UsageReport {
                cpu_ms: outcome.usage.cpu.as_secs_f64() * 1e3,
                peak_memory_bytes: outcome.usage.peak_memory,
            },
            executor: outcome.executor.clone(),
            selection: outcome.selection.as_deref().cloned(),
            isolation: (*outcome.isolation).clone(),
            limits_hit: outcome.limits_hit.clone(),
            denials: outcome.denials.clone(),
            survivors: outcome.survivors.clone(),
            reopened: outcome.reopened.clone(),
        }
    }
}
