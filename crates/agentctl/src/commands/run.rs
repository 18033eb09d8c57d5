//! `agentctl run`: one command, from its arguments to our exit status.

use std::io;
use std::path::{Path, PathBuf};

use agent_exec::Sandbox;
use exec_core::{Error, ErrorKind, ExecOpts, Executor, NamespaceBan, Outcome, Result};

use crate::args::RunArgs;
use crate::backends::here;
use crate::drive::{End, drive};
use crate::output::messages::{self, Detail};
use crate::output::{Delivered, Format, Line, Voice, banner, say};
use crate::resolve::{self, Host, Job, Talk};
use crate::signals::Signals;
use crate::{choose, exit_code};

/// Runs the command and returns the exit status.
pub(crate) async fn run(args: RunArgs) -> Result<u8> {
    carry_out(&resolve::run(args, &here(), Host::ours())?, Occasion::Command).await
}

/// What kind of run the user started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Occasion {
    /// A command that ends by itself.
    Command,
    /// An interactive shell, which the user leaves.
    Shell,
}

/// A job in its sandbox, with all messages before and after it.
pub(super) async fn carry_out(job: &Job, occasion: Occasion) -> Result<u8> {
    let mut signals = listen()?;
    match open(job, occasion, &mut signals).await? {
        Some(sandbox) => one(&sandbox, job, &mut signals).await,
        None => Ok(exit_code::CANCELLED),
    }
}

/// From now on no signal ends this process.
pub(super) fn listen() -> Result<Signals> {
    Signals::listen()
        .map_err(|error| Error::new(ErrorKind::Io, "start", "can't listen for signals").with_source(error))
}

/// The sandbox of a job, with all messages before it; `None` if the user interrupted the search.
pub(super) async fn open(job: &Job, occasion: Occasion, signals: &mut Signals) -> Result<Option<Sandbox>> {
    let sandbox = tokio::select! {
        chosen = choose::sandbox(job) => chosen?,
        // No command has started yet; a half-made cell dies with this process.
        _ = signals.stop_asked() => return Ok(None),
    };
    introduce(job, &sandbox, occasion);
    Ok(Some(sandbox))
}

/// A job's command, with all messages after it.
pub(super) async fn one(sandbox: &Sandbox, job: &Job, signals: &mut Signals) -> Result<u8> {
    match drive(sandbox, job, signals).await? {
        End::NotStarted => Ok(exit_code::CANCELLED),
        End::Ran(outcome, delivered) => Ok(conclude(job, &outcome, &delivered)),
    }
}

/// Prints where the command is about to run, in the requested detail.
pub(super) fn introduce(job: &Job, sandbox: &Sandbox, occasion: Occasion) {
    let (name, has) = (sandbox.name(), sandbox.capabilities());
    let opts = job.opts.on(name);
    if job.voice == Voice::Worker && job.talk != Talk::Quiet {
        say_all(job.voice, &job.warnings.iter().map(Line::warn).collect::<Vec<_>>());
        say_all(job.voice, &banner::worker(sandbox, opts, &workspace(opts)));
        return;
    }
    if !talks(job) {
        return;
    }
    say_all(job.voice, &job.warnings.iter().map(Line::warn).collect::<Vec<_>>());
    say_all(job.voice, &banner::warnings(has, sandbox.selection(), NamespaceBan::of_this_user()));
    match (job.talk, occasion) {
        (Talk::Verbose, _) => {
            say_all(job.voice, &banner::evidence(sandbox.evidence()));
            say(job.voice, &Line::info(banner::place_in_full(name, has, opts, &workspace(opts))));
        }
        (_, Occasion::Shell) => {
            let place = banner::place(name, has, opts);
            let line = format!("a shell in {place}; leave it with `exit` or Ctrl-D");
            say(job.voice, &Line::info(line));
        }
        (Talk::Normal, Occasion::Command) => {
            say(job.voice, &Line::info(banner::place(name, has, opts)));
        }
        (Talk::Terse | Talk::Quiet, Occasion::Command) => {}
    }
}

/// The workspace by its own path. One that has none is refused by the run.
fn workspace(opts: &ExecOpts) -> PathBuf {
    let path = opts.workspace.path.as_deref().unwrap_or(Path::new("."));
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Prints the messages about a run that ended, and returns the exit status.
fn conclude(job: &Job, outcome: &Outcome, delivered: &Delivered) -> u8 {
    if let Delivered::Failed(error) = delivered
        && error.kind() == io::ErrorKind::BrokenPipe
    {
        // A reader that closed the pipe gets no further output.
        return exit_code::of_output_error(error);
    }
    if talks(job) {
        let detail = if job.talk == Talk::Verbose { Detail::Full } else { Detail::Brief };
        say_all(job.voice, &messages::after(outcome, detail));
    }
    match delivered {
        Delivered::Whole => exit_code::of_outcome(outcome),
        Delivered::GivenUp => exit_code::CANCELLED,
        Delivered::Failed(error) => {
            say(job.voice, &messages::output_error(error));
            exit_code::of_output_error(error)
        }
    }
}

/// With `--json`, all messages are in the object.
fn talks(job: &Job) -> bool {
    job.talk != Talk::Quiet && job.format == Format::Stream
}

fn say_all(voice: Voice, lines: &[Line]) {
    for line in lines {
        say(voice, line);
    }
}
