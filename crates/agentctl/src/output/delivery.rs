//! Delivers a run's output: through to our own streams, or into one JSON object.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use exec_core::{Capture, Collector, ExecResult, Outcome, Report, Result, Stream};
use serde::Serialize;
use tokio::sync::Notify;

use super::writer::{Escapes, Writer};
use super::{json, spell};

/// The form of the output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Format {
    /// Passed through as it is written.
    Stream,
    /// One object at the end.
    Json {
        /// With this much of the output.
        capture: Capture,
        /// With the messages before the run.
        warnings: Vec<String>,
    },
}

/// What became of the output.
#[derive(Debug)]
pub(crate) enum Delivered {
    /// It is all written.
    Whole,
    /// The user stopped waiting for the reader.
    GivenUp,
    /// It could not be written.
    Failed(io::Error),
}

/// The destination of a run's output.
#[derive(Debug)]
pub(crate) struct Delivery {
    escapes: Escapes,
    collectors: Option<(Collector, Collector)>,
    warnings: Vec<String>,
    writer: Option<Writer>,
    stopped: Option<Delivered>,
    failed: Arc<Notify>,
    given_up: Arc<Notify>,
}

impl Delivery {
    /// Nothing is written yet.
    pub(crate) fn new(format: &Format, escapes: Escapes) -> Result<Self> {
        let (collectors, warnings) = match format {
            Format::Stream => (None, Vec::new()),
            Format::Json { capture, warnings } => {
                (Some((Collector::new(capture)?, Collector::new(capture)?)), warnings.clone())
            }
        };
        let (failed, given_up) = (Arc::default(), Arc::default());
        Ok(Self { escapes, collectors, warnings, writer: None, stopped: None, failed, given_up })
    }

    /// Notified when the output can't be written any more.
    pub(crate) fn failed(&self) -> Arc<Notify> {
        Arc::clone(&self.failed)
    }

    /// Notify this to stop waiting for the reader of our output.
    pub(crate) fn given_up(&self) -> Arc<Notify> {
        Arc::clone(&self.given_up)
    }

    /// Waits until there is room for a piece of output; until then the cell holds back the rest.
    pub(crate) async fn ready(&mut self) {
        if let (Some(writer), None) = (&self.writer, &self.stopped) {
            tokio::select! {
                () = writer.ready() => {}
                () = self.given_up.notified() => self.stopped = Some(Delivered::GivenUp),
            }
        }
    }

    /// Accepts a piece of output, waiting while it can't be written. Output after a failure is dropped.
    pub(crate) async fn take(&mut self, stream: Stream, bytes: Bytes) -> Result<()> {
        match (&mut self.collectors, stream) {
            (Some((stdout, _)), Stream::Stdout) => stdout.push(&bytes)?,
            (Some((_, stderr)), Stream::Stderr) => stderr.push(&bytes)?,
            (None, _) => self.write(stream, bytes).await,
        }
        Ok(())
    }

    /// The end of the run: prints the object, and waits until everything is written.
    pub(crate) async fn finish(mut self, outcome: &Outcome) -> Delivered {
        if let Some((stdout, stderr)) = self.collectors.take() {
            let result =
                ExecResult { outcome: outcome.clone(), stdout: stdout.finish(), stderr: stderr.finish() };
            let mut report = Report::from(&result);
            report.remedies_mut().for_each(spell);
            let object = json::to_line(&Object { report, warnings: &self.warnings });
            self.write(Stream::Stdout, object.into()).await;
        }
        if let Some(Delivered::GivenUp) = self.stopped {
            return Delivered::GivenUp;
        }
        let Some(writer) = self.writer else { return self.stopped.unwrap_or(Delivered::Whole) };
        tokio::select! {
            written = writer.finish() => written.map_or_else(Delivered::Failed, |()| Delivered::Whole),
            () = self.given_up.notified() => Delivered::GivenUp,
        }
    }

    async fn write(&mut self, stream: Stream, bytes: Bytes) {
        if self.stopped.is_some() {
            return;
        }
        let writer = match &mut self.writer {
            Some(writer) => writer,
            none => match Writer::start(self.escapes, Arc::clone(&self.failed)) {
                Ok(writer) => none.insert(writer),
                Err(error) => {
                    self.failed.notify_one();
                    self.stopped = Some(Delivered::Failed(error));
                    return;
                }
            },
        };
        tokio::select! {
            () = writer.send(stream, bytes) => {}
            () = self.given_up.notified() => self.stopped = Some(Delivered::GivenUp),
        }
    }
}

/// The object that `--json` prints.
#[derive(Debug, Serialize)]
struct Object<'a> {
    #[serde(flatten)]
    report: Report,
    /// The messages before the run.
    warnings: &'a [String],
}
