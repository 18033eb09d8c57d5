//! One run from start to end: output out, input in, signals through, the terminal ours again afterwards.

use std::convert::Infallible;
use std::io;

use exec_core::{Cmd, Control, Error, ErrorKind, Event, ExecOpts, Execution, Executor, Outcome, Result};
use tokio::sync::Notify;

use crate::input;
use crate::output::{Delivered, Delivery};
use crate::resolve::{Input, Job, OurTerminal};
use crate::signals::{Action, Escalation, Signals};
use crate::terminal::{self, RawMode};

/// How it went.
#[derive(Debug)]
pub(crate) enum End {
    /// Somebody asked for an end before it had begun.
    NotStarted,
    /// It ran.
    Ran(Box<Outcome>, Delivered),
}

/// Runs a job to its end.
pub(crate) async fn drive(executor: &dyn Executor, job: &Job, signals: &mut Signals) -> Result<End> {
    let execution = tokio::select! {
        started = start(executor, &job.commands, &job.opts) => started?,
        () = signals.stop_asked() => return Ok(End::NotStarted),
    };
    let raw = match job.terminal {
        OurTerminal::Raw => Some(RawMode::enter().map_err(|error| ours("can't set up the terminal", error))?),
        OurTerminal::Untouched => None,
    };
    // The size may have changed while nobody listened.
    if job.opts.tty.is_some() {
        resize(&execution.control());
    }
    let delivery = Delivery::new(&job.format, job.escapes)?;
    let (failed, given_up) = (delivery.failed(), delivery.given_up());
    let control = execution.control();
    tokio::select! {
        end = carry_out(&execution, delivery) => end,
        fed = input::feed(execution.stdin()), if job.input == Input::Stream => match fed {
            Err(error) => Err(ours("can't read standard input", error)),
            Ok(never) => match never {},
        },
        never = attend(signals, &control, raw.as_ref(), &given_up) => match never {},
        never = cancel_when(&failed, &control) => match never {},
    }
}

/// Starts the first of these commands that is there.
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
    control: &Control,
    raw: Option<&RawMode>,
    given_up: &Notify,
) -> Infallible {
    let mut escalation = Escalation::default();
    loop {
        match escalation.on(signals.next().await) {
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
