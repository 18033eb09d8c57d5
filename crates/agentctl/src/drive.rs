//! Drives one run from start to end: copies output and input, forwards signals, and restores the terminal.

use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::time::Duration;

use exec_core::{Cmd, Control, Error, ErrorKind, Event, ExecOpts, Execution, Executor, Outcome, Result};
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::input;
use crate::output::{Delivered, Delivery};
use crate::resolve::{Input, Job, OurTerminal};
use crate::signals::{Action, Escalation, Received, Signals};
use crate::terminal::{self, RawMode};

/// How the job went.
#[derive(Debug)]
pub(crate) enum End {
    /// The user asked for an end before the command had started.
    NotStarted,
    /// It ran.
    Ran(Box<Outcome>, Delivered),
}

/// How long to wait for something that is bound to happen: a start, or the end of a killed run. The executor
/// has its own bounds; this one is for a kernel that does not release a process.
const LAST_WAIT: Duration = Duration::from_secs(10);

/// Runs a job to its end. On return, nothing that the command started is alive. There is one exception: a
/// start that never completes, or during which the user asks twice for an end, is left to die with this
/// process.
pub(crate) async fn drive(executor: &dyn Executor, job: &Job, signals: &mut Signals) -> Result<End> {
    let opts = job.opts.on(executor.name());
    let mut starting = pin!(start(executor, &job.commands, opts));
    let (execution, first) = tokio::select! {
        started = &mut starting => (started?, None),
        asked = signals.stop_asked() => match still_started(starting, signals).await {
            Some(execution) => (execution, Some(asked)),
            None => return Ok(End::NotStarted),
        },
    };
    let end = accompany(&execution, job, opts, signals, first).await;
    if end.is_err() {
        give_up(&execution).await;
    }
    end
}

/// The outcome of a start during which the user asked for an end. The command may be running before its start
/// is reported; it may have output already and may need to clean up.
async fn still_started(
    starting: impl Future<Output = Result<Execution>>,
    signals: &mut Signals,
) -> Option<Execution> {
    tokio::select! {
        started = timeout(LAST_WAIT, starting) => started.ok()?.ok(),
        _ = signals.stop_asked() => None,
    }
}

/// Ends a run whose result is not needed. Dropping it is not enough: it would die a moment after this
/// process.
async fn give_up(execution: &Execution) {
    execution.control().kill();
    // Its outcome is not needed any more.
    let _ = timeout(LAST_WAIT, execution.wait()).await;
}

/// Drives a run to its end, or until an error; `first` is a signal that arrived before the run existed.
async fn accompany(
    execution: &Execution,
    job: &Job,
    opts: &ExecOpts,
    signals: &mut Signals,
    first: Option<Received>,
) -> Result<End> {
    let raw = match job.terminal {
        OurTerminal::Raw => Some(RawMode::enter().map_err(|error| ours("can't set up the terminal", error))?),
        OurTerminal::Untouched => None,
    };
    // The size may have changed before the listener existed.
    if opts.tty.is_some() {
        resize(&execution.control());
    }
    let delivery = Delivery::new(&job.format, job.escapes)?;
    let (failed, given_up) = (delivery.failed(), delivery.given_up());
    let control = execution.control();
    tokio::select! {
        end = carry_out(execution, delivery) => end,
        fed = input::feed(execution.stdin()), if job.input == Input::Stream => match fed {
            Err(error) => Err(ours("can't read standard input", error)),
            Ok(never) => match never {},
        },
        never = attend(signals, first, &control, raw.as_ref(), &given_up) => match never {},
        never = cancel_when(&failed, &control) => match never {},
    }
}

/// Starts the first of these commands that exists.
async fn start(executor: &dyn Executor, commands: &[Cmd], opts: &ExecOpts) -> Result<Execution> {
    let mut missing = None;
    for cmd in commands {
        match executor.start(cmd, opts).await {
            Err(error) if is_missing(&error) => missing = Some(error),
            started => return started,
        }
    }
    Err(missing.unwrap_or_else(|| Error::new(ErrorKind::InvalidInput, "run", "no command was given")))
}

fn is_missing(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::ProgramNotFound | ErrorKind::ProgramNotExecutable)
}

async fn carry_out(execution: &Execution, mut delivery: Delivery) -> Result<End> {
    loop {
        delivery.ready().await;
        match execution.next_event().await {
            Some(Event::Output { stream, bytes }) => delivery.take(stream, bytes).await?,
            Some(_) => {}
            None => break,
        }
    }
    let outcome = execution.wait().await?;
    let delivered = delivery.finish(&outcome).await;
    Ok(End::Ran(Box::new(outcome), delivered))
}

async fn attend(
    signals: &mut Signals,
    mut first: Option<Received>,
    control: &Control,
    raw: Option<&RawMode>,
    given_up: &Notify,
) -> Infallible {
    let mut escalation = Escalation::default();
    loop {
        let received = match first.take() {
            Some(received) => received,
            None => signals.next().await,
        };
        match escalation.on(received) {
            Action::PassOn(signal) => control.signal(signal),
            Action::Cancel => control.cancel(),
            Action::Kill => {
                control.kill();
                given_up.notify_one();
            }
            Action::Resize => resize(control),
            Action::Resume => {
                // A terminal that is gone ends the run by itself.
                let _ = raw.map(RawMode::reenter);
                resize(control);
            }
        }
    }
}

async fn cancel_when(failed: &Notify, control: &Control) -> Infallible {
    failed.notified().await;
    control.cancel();
    std::future::pending().await
}

fn resize(control: &Control) {
    if let Some(size) = terminal::size() {
        control.resize(size);
    }
}

fn ours(what: &str, error: io::Error) -> Error {
    Error::new(ErrorKind::Io, "run", what).with_source(error)
}

#[cfg(test)]
mod tests;
