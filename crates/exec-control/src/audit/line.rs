//! The lines of the log. Pure. Every value is one of ours or a JSON string, so that no command can forge a line
//! with its output or its name.

use std::borrow::Cow;

use exec_core::{Denial, Ended, Isolation, IsolationLevel, LimitHit, LimitReport, Outcome};
use serde::Serialize;

use crate::process::machine;
use crate::record::{Moment, RunRecord};
use crate::run::Written;
use crate::state::StateDir;

/// A run starts.
#[derive(Debug, Serialize)]
pub(crate) struct StartLine<'a> {
    event: &'static str,
    at: String,
    run: &'a str,
    cell: &'a str,
    executor: &'a str,
    owner: &'a str,
    owner_pid: u32,
    // From here to `state`: the facts that decide later whether a run without an end line is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    owner_start: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner_boot: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner_namespaces: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    machine: Option<&'a str>,
    state: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
    argv: &'a [String],
    cwd: &'a str,
    isolation: IsolationLevel,
    uid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<&'a str>,
    limits: &'a [LimitReport],
}

impl<'a> StartLine<'a> {
    /// The start of this run, whose records are in that directory.
    pub(crate) fn new(record: &'a RunRecord, state: &'a StateDir, isolation: &'a Isolation) -> Self {
        let world = record.owner.world.as_ref();
        Self {
            event: "start",
            at: record.since.rfc3339(),
            run: &record.id,
            cell: &record.cell,
            executor: &record.backend,
            owner: &record.owner.id,
            owner_pid: record.owner.pid,
            owner_start: record.owner.start,
            owner_boot: world.map(|world| world.boot.as_str()),
            owner_namespaces: world.map(|world| world.namespaces.as_str()),
            machine: machine(),
            state: state.path().to_string_lossy(),
            session: record.session.as_deref(),
            argv: &record.argv,
            cwd: &record.cwd,
            isolation: isolation.level,
            uid: isolation.uid,
            image: isolation.image.as_deref(),
            limits: &isolation.limits,
        }
    }
}

/// A run has ended.
#[derive(Debug, Serialize)]
pub(crate) struct EndLine<'a> {
    event: &'static str,
    at: String,
    run: &'a str,
    #[serde(flatten)]
    how: How<'a>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum How<'a> {
    Ended {
        ended: Ended,
        exit_code: Option<i32>,
        signal: Option<i32>,
        duration_ms: u64,
        cpu_ms: u64,
        peak_memory_bytes: u64,
        stdout_bytes: u64,
        stderr_bytes: u64,
        limits_hit: &'a [LimitHit],
        denials: &'a [Denial],
        survivors: &'a [u32],
    },
    Failed {
        error: String,
    },
}

impl<'a> EndLine<'a> {
    /// The end of a run with this outcome.
    pub(crate) fn of(run: &'a str, outcome: &'a Outcome, written: Written) -> Self {
        let millis = |duration: std::time::Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let how = How::Ended {
            ended: outcome.ended,
            exit_code: outcome.exit_code(),
            signal: outcome.signal().map(exec_core::Signal::number),
            duration_ms: millis(outcome.duration),
            cpu_ms: millis(outcome.usage.cpu),
            peak_memory_bytes: outcome.usage.peak_memory,
            stdout_bytes: written.stdout,
            stderr_bytes: written.stderr,
            limits_hit: &outcome.limits_hit,
            denials: &outcome.denials,
            survivors: &outcome.survivors,
        };
        Self { event: "end", at: Moment::now().rfc3339(), run, how }
    }

    /// The end of a run without an outcome.
    pub(crate) fn failed(run: &'a str, error: String) -> Self {
        Self { event: "end", at: Moment::now().rfc3339(), run, how: How::Failed { error } }
    }
}
