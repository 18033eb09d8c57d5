//! `agentctl run`: one command, from its arguments to our exit status.

use std::io;
use std::sync::Arc;

use exec_config::Here;
use exec_core::{Error, ErrorKind, Executor, Outcome, Plan, Result, Selection};

use crate::args::RunArgs;
use crate::drive::{End, drive};
use crate::output::messages::{self, Detail};
use crate::output::{Delivered, Format, say};
use crate::resolve::{self, Host, Job, Talk};
use crate::signals::Signals;
use crate::{choose, exit_code};

/// Runs it and returns what to exit with.
pub(crate) async fn run(args: RunArgs) -> Result<u8> {
    let job = resolve::run(args, &Here, Host::ours())?;
    let (executor, selection) = choose::executor(&job).await?;
    carry_out(&job, executor, &selection, None).await
}

/// A job on its executor, with everything that is said before and after.
pub(super) async fn carry_out(
    job: &Job,
    executor: Arc<dyn Executor>,
    selection: &Selection,
    opening: Option<String>,
) -> Result<u8> {
    let mut signals = Signals::listen()
        .map_err(|error| Error::new(ErrorKind::Io, "start", "can't listen for signals").with_source(error))?;
    if talks(job) {
        say_all(&job.warnings.iter().map(|warning| messages::warning(warning)).collect::<Vec<_>>());
        say_all(&messages::before(executor.capabilities(), selection));
    }
    if job.talk == Talk::Verbose {
        let plan = Plan::resolve(&job.commands[0], job.opts.on(executor.name()), std::env::vars_os())?;
        say(&messages::banner(executor.name(), executor.capabilities(), &plan));
    }
    if let Some(opening) = opening.filter(|_| talks(job)) {
        say(&opening);
    }
    match drive(&*executor, job, &mut signals).await? {
        End::NotStarted => Ok(exit_code::CANCELLED),
        End::Ran(outcome, delivered) => Ok(conclude(job, &outcome, &delivered)),
    }
}

/// Says what there is to say about a run that ended, and what to exit with.
fn conclude(job: &Job, outcome: &Outcome, delivered: &Delivered) -> u8 {
    if let Delivered::Failed(error) = delivered
        && error.kind() == io::ErrorKind::BrokenPipe
    {
        // Who has seen enough wants to hear no more.
        return exit_code::of_output_error(error);
    }
    if talks(job) {
        let detail = if job.talk == Talk::Verbose { Detail::Full } else { Detail::Brief };
        say_all(&messages::after(outcome, detail));
    }
    match delivered {
        Delivered::Whole => exit_code::of_outcome(outcome),
        Delivered::GivenUp => exit_code::CANCELLED,
        Delivered::Failed(error) => {
            say(&messages::output_error(error));
            exit_code::of_output_error(error)
        }
    }
}

/// With an object, everything there is to say is in it.
fn talks(job: &Job) -> bool {
    job.talk != Talk::Quiet && job.format == Format::Stream
}

fn say_all(lines: &[String]) {
    for line in lines {
        say(line);
    }
}
