//! A run in progress.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;

use crate::{Capture, Collector, Event, ExecResult, Outcome, Result, Selection, Signal, Stream, WindowSize};

/// The name of a run: unique in this process and hard to guess from outside.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RunId(String);

impl RunId {
    /// Wraps a name.
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The backend's side of a run. Every method may be called at any time, from any task, any number of times; calls that
/// come too late are ignored.
#[async_trait]
pub trait RunHandle: Send + Sync + fmt::Debug {
    /// The next event; `None` after the last.
    async fn next_event(&self) -> Option<Event>;
    /// Writes to standard input; returns when the cell has taken the bytes, not when the command has read them.
    async fn write_stdin(&self, bytes: Bytes) -> Result<()>;
    /// Ends standard input.
    fn close_stdin(&self);
    /// Sends a signal to the command's process group.
    fn signal(&self, signal: Signal);
    /// Sets the terminal's size.
    fn resize(&self, size: WindowSize);
    /// Ends the run: SIGTERM first, SIGKILL after its grace.
    fn cancel(&self);
    /// Ends the run by force.
    fn kill(&self);
    /// Waits until everything that the run started has ended.
    async fn wait(&self) -> Result<Outcome>;
}

/// A run in progress. Dropping it kills everything that the run started.
///
/// Output flows only as it is read: a command whose output is not read stalls and does not fill memory.
#[derive(Debug)]
pub struct Execution {
    id: RunId,
    handle: Arc<dyn RunHandle>,
    selection: Option<Arc<Selection>>,
}

impl Execution {
    /// Wraps a backend's run.
    pub fn new(id: RunId, handle: Arc<dyn RunHandle>) -> Self {
        Self { id, handle, selection: None }
    }

    /// Adds the selection that led to this executor to the run's result.
    #[must_use]
    pub(crate) fn chosen_by(mut self, selection: Arc<Selection>) -> Self {
        self.selection = Some(selection);
        self
    }

    /// The run's name.
    pub fn id(&self) -> &RunId {
        &self.id
    }

    /// Returns the next event, or `None` when the run is over; [`wait`](Self::wait) then returns at once.
    pub async fn next_event(&self) -> Option<Event> {
        self.handle.next_event().await
    }

    /// Waits until everything that the run started has ended. It may be called any number of times, concurrently, and
    /// always returns the same outcome.
    ///
    /// This does not read output: a command that writes more than its pipes hold stalls until
    /// [`next_event`](Self::next_event) or [`collect`](Self::collect) is called.
    ///
    /// # Errors
    ///
    /// Returns an error if the sandbox died before the command ended, or broke its protocol.
    pub async fn wait(&self) -> Result<Outcome> {
        let outcome = self.handle.wait().await?;
        Ok(match &self.selection {
            Some(selection) => {
                let executor = selection.name.clone();
                Outcome { executor, selection: Some(Arc::clone(selection)), ..outcome }
            }
            None => outcome,
        })
    }

    /// Reads all output, keeps it within the bounds of `capture`, and waits for the end.
    ///
    /// # Errors
    ///
    /// Fails as [`wait`](Self::wait) does, and if the output can't be written to the spill directory.
    pub async fn collect(&self, capture: &Capture) -> Result<ExecResult> {
        let (mut stdout, mut stderr) = (Collector::new(capture)?, Collector::new(capture)?);
        while let Some(event) = self.next_event().await {
            if let Event::Output { stream, bytes } = event {
                match stream {
                    Stream::Stdout => stdout.push(&bytes)?,
                    Stream::Stderr => stderr.push(&bytes)?,
                }
            }
        }
        let outcome = self.wait().await?;
        Ok(ExecResult { outcome, stdout: stdout.finish(), stderr: stderr.finish() })
    }

    /// A writer for standard input, for runs started with [`Stdin::Stream`](crate::Stdin::Stream) or a terminal.
    pub fn stdin(&self) -> StdinWriter {
        StdinWriter { handle: Arc::clone(&self.handle) }
    }

    /// A handle that signals and stops the run. It does not keep the run alive, and dropping it does not kill the run.
    pub fn control(&self) -> Control {
        Control { handle: Arc::clone(&self.handle) }
    }

    /// See [`Control::signal`].
    pub fn signal(&self, signal: Signal) {
        self.handle.signal(signal);
    }

    /// See [`Control::cancel`].
    pub fn cancel(&self) {
        self.handle.cancel();
    }
}

impl Drop for Execution {
    fn drop(&mut self) {
        self.handle.kill();
    }
}

/// Signals and stops a run from elsewhere.
#[derive(Debug, Clone)]
pub struct Control {
    handle: Arc<dyn RunHandle>,
}

impl Control {
    /// Sends a signal to the command's process group.
    pub fn signal(&self, signal: Signal) {
        self.handle.signal(signal);
    }

    /// Sets the size of the run's terminal.
    pub fn resize(&self, size: WindowSize) {
        self.handle.resize(size);
    }

    /// Ends the run: SIGTERM, and after its grace SIGKILL for everything it started.
    pub fn cancel(&self) {
        self.handle.cancel();
    }

    /// Ends the run by force, at once.
    pub fn kill(&self) {
        self.handle.kill();
    }
}

/// Writes a command's standard input.
#[derive(Debug)]
pub struct StdinWriter {
    handle: Arc<dyn RunHandle>,
}

impl StdinWriter {
    /// Writes bytes and returns when the cell has taken them; waits while the command does not read. Bytes for a command
    /// that has closed its input, or ended, are discarded.
    pub async fn write(&self, bytes: impl Into<Bytes>) -> Result<()> {
        self.handle.write_stdin(bytes.into()).await
    }

    /// Closes the input; on a terminal, types the end-of-file character.
    pub fn close(self) {
        self.handle.close_stdin();
    }
}
