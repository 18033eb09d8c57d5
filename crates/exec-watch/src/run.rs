//! The note of one run: in the records while it lasts, in the audit log when it starts and when it ends.

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

/// The most that is kept of a command line; a program's source may stand in it.
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
    /// What it is.
    pub plan: &'a Plan,
    /// What holds in its cell.
    pub isolation: &'a Isolation,
}

/// Bytes that a command wrote.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Written {
    /// To standard output, or to its terminal.
    pub stdout: u64,
    /// To standard error.
    pub stderr: u64,
}

/// The note of a run. One that is dropped unfinished says that the run was given up before it started.
#[derive(Debug)]
pub struct RunNote {
    state: StateDir,
    record: RunRecord,
    audit: Option<AuditLog>,
    /// Lasts as long as the run.
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
            // Until there is a line, there is none to close.
            finished: true,
            record,
        };
        if let Some(audit) = &note.audit {
            audit.start(&StartLine::new(&note.record, state, run.isolation))?;
        }
        note.finished = false;
        match run.cell.take_blank() {
            Some(blank) => blank.fill(state, &note.record)?,
            None => state.put(Kind::Run, &note.record.file(), &note.record)?,
        }
        tracing::info!(parent: &note.span, argv = ?note.record.argv, "starts");
        Ok(note)
    }

    /// The number of its first process inside the cell. Only who shares a cell with others needs it.
    pub fn runs_as(&self, pid: u32) {
        if self.record.session.is_some() {
            // Added to the record instead of written with a new one: a session takes a thousand commands a second.
            if let Err(error) = self.state.add(Kind::Run, &self.record.file(), &pid) {
                tracing::warn!(%error, "the process of a run is not in the records");
            }
        }
    }

    /// It ended.
    pub fn ended(mut self, outcome: &Outcome, written: Written) {
        self.finished = true;
        tracing::info!(parent: &self.span, ended = ?outcome.ended, status = ?outcome.status, "has ended");
        self.close(&EndLine::of(&self.record.id, outcome, written));
    }

    /// It did not start, or has no outcome, because of this.
    pub fn failed(self, error: &Error) {
        self.lost(&error.to_string());
    }

    /// It has no outcome; this is why.
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

/// Values of variables whose names say that they are nobody's business.
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

/// At most this many bytes of a text, at the border of a character.
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

    /// R91: a secret that the caller handed over in the environment does not show up in the arguments either.
    #[test]
    fn values_of_secret_variables_are_left_out() {
        let secrets = BTreeSet::from(["hunter22".to_owned()]);
        assert_eq!(shown_argv(&argv(&["curl", "u=hunter22&x"]), &secrets), ["curl", "u=[redacted]&x"]);
    }
}
