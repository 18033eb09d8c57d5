//! The note of one run: a record while it lasts, and audit log lines for its start and end.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ffi::OsString;

use exec_core::{Error, Isolation, Lifetime, Outcome, Plan, Result, RunId};

use crate::audit::{AuditLog, EndLine, StartLine};
use crate::owner::Owner;
use crate::record::{Moment, RunRecord};
use crate::redact::Redactor;
use crate::state::{Kind, StateDir};
use crate::watch::Seat;

/// The most that is kept of a command line, which may contain a program's source.
const LONGEST: usize = 4096;

/// A run that is about to start.
#[derive(Debug, Clone, Copy)]
pub struct Begun<'a> {
    /// Its name.
    pub id: &'a RunId,
    /// The cell it is in.
    pub cell: &'a Seat,
    /// The executor.
    pub backend: &'a str,
    /// The resolved command and options.
    pub plan: &'a Plan,
    /// The isolation in effect in its cell.
    pub isolation: &'a Isolation,
}

/// The number of bytes a command wrote.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Written {
    /// To standard output, or to its terminal.
    pub stdout: u64,
    /// To standard error.
    pub stderr: u64,
}

/// The note of a run. Dropping it unfinished logs that the run was abandoned before it started.
#[derive(Debug)]
pub struct RunNote {
    state: StateDir,
    record: RunRecord,
    audit: Option<AuditLog>,
    /// Open as long as the run lasts.
    span: tracing::Span,
    finished: bool,
}

impl RunNote {
    pub(crate) fn begin(
        state: &StateDir,
        owner: &Owner,
        audit: Option<&AuditLog>,
        run: Begun<'_>,
    ) -> Result<Self> {
        let record = record(owner, run);
        let mut note = Self {
            state: state.clone(),
            audit: audit.cloned(),
            span: tracing::info_span!("run", id = record.id, cell = record.cell, executor = record.backend),
            // Without a start line there is nothing to close.
            finished: true,
            record,
        };
        if let Some(audit) = &note.audit {
            audit.start(&StartLine::new(&note.record, state, run.isolation))?;
        }
        note.finished = false;
        match run.cell.take_preallocated() {
            Some(preallocated) => preallocated.fill(state, &note.record)?,
            None => state.put(Kind::Run, &note.record.file(), &note.record)?,
        }
        tracing::info!(parent: &note.span, argv = ?note.record.argv, "starts");
        Ok(note)
    }

    /// Records the pid of its first process inside the cell. Only runs that share a cell with others need it.
    pub fn runs_as(&self, pid: u32) {
        if self.record.session.is_some() {
            // Appended to the record instead of rewriting it: a session takes a thousand commands a second.
            if let Err(error) = self.state.add(Kind::Run, &self.record.file(), &pid) {
                tracing::warn!(%error, "the process of a run is not in the records");
            }
        }
    }

    /// Records that the run ended.
    pub fn ended(mut self, outcome: &Outcome, written: Written) {
        self.finished = true;
        tracing::info!(parent: &self.span, ended = ?outcome.ended, status = ?outcome.status, "has ended");
        self.close(&EndLine::of(&self.record.id, outcome, written));
    }

    /// Records that the run did not start or has no outcome because of this error.
    pub fn failed(self, error: &Error) {
        self.lost(&error.to_string());
    }

    /// Records that the run has no outcome, and why.
    pub fn lost(mut self, why: &str) {
        self.finished = true;
        tracing::info!(parent: &self.span, why, "has no outcome");
        self.close(&EndLine::failed(&self.record.id, why.to_owned()));
    }

    fn close(&self, line: &EndLine<'_>) {
        if let Some(audit) = &self.audit {
            audit.end(line);
        }
        self.state.remove(Kind::Run, &self.record.file());
    }
}

impl Drop for RunNote {
    fn drop(&mut self) {
        if !self.finished {
            self.close(&EndLine::failed(&self.record.id, "it was given up before it started".to_owned()));
        }
    }
}

fn record(owner: &Owner, run: Begun<'_>) -> RunRecord {
    RunRecord {
        id: run.id.to_string(),
        cell: run.cell.name().to_owned(),
        backend: run.backend.to_owned(),
        owner: owner.clone(),
        session: match &run.plan.lifetime {
            Lifetime::Ephemeral => None,
            Lifetime::Session(name) => Some(name.as_str().to_owned()),
        },
        pid: None,
        argv: shown_argv(&run.plan.argv, &secrets(run.plan)),
        cwd: run.plan.cwd.to_string_lossy().into_owned(),
        since: Moment::now(),
    }
}

/// Values of variables that are secret, by declaration or by name.
fn secrets(plan: &Plan) -> BTreeSet<String> {
    let named = plan.env.iter().filter(|(name, _)| {
        plan.secret_env.contains(*name) || crate::redact::is_secret_name(&name.to_string_lossy())
    });
    named.filter_map(|(_, value)| value.to_str().map(str::to_owned)).collect()
}

fn shown_argv(argv: &[OsString], secrets: &BTreeSet<String>) -> Vec<String> {
    let mut redactor = Redactor::new(secrets);
    let mut left = LONGEST;
    let mut shown = Vec::new();
    for word in argv {
        if left == 0 {
            shown.push("…".to_owned());
            break;
        }
        let word = redactor.word(&word.to_string_lossy());
        let kept = cut(&word, left);
        left = left.saturating_sub(kept.len().max(1));
        shown.push(kept.into_owned());
    }
    shown
}

/// At most this many bytes of a text, cut at a character boundary.
fn cut(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argv(words: &[&str]) -> Vec<OsString> {
        words.iter().map(Into::into).collect()
    }

    #[test]
    fn a_long_command_line_is_cut() {
        let long = "ü".repeat(LONGEST);
        let shown = shown_argv(&argv(&["sh", "-c", &long, "more"]), &BTreeSet::new());
        assert_eq!(shown.len(), 4);
        assert!(shown.concat().len() < LONGEST + 10);
        assert_eq!(shown[3], "…");
    }

    /// R91: a secret that the caller passed in the environment does not show up in the arguments either.
    #[test]
    fn values_of_secret_variables_are_left_out() {
        let secrets = BTreeSet::from(["hunter22".to_owned()]);
        assert_eq!(shown_argv(&argv(&["curl", "u=hunter22&x"]), &secrets), ["curl", "u=[redacted]&x"]);
    }
}
