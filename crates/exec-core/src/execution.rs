//! A run under way.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;

use crate::{Capture, Collector, Event, ExecResult, Outcome, Result, Selection, Signal, Stream, WindowSize};

/// Names a run, unique in this process and hard to guess from outside it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RunId(String);

impl RunId {
    /// A run of this name.
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The backend's side of a run. Every method may be called at any time, from any task, any number of times:
/// what comes too late is ignored.
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
    /// Tells the terminal its size.
    fn resize(&self, size: WindowSize);
    /// Ends the run: politely, then by force after its grace.
    fn cancel(&self);
    /// Ends the run by force.
    fn kill(&self);
    /// Waits for the end of everything the run started.
    async fn wait(&self) -> Result<Outcome>;
}

/// A run under way. Dropping it kills everything the run started.
///
/// Output flows only as it is read: a command whose output nobody takes stalls, it does not fill memory.
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

    /// The choice that led to this executor, for the run's result.
    #[must_use]
    pub(crate) fn chosen_by(mut self, selection: Arc<Selection>) -> Self {
        self.selection = Some(selection);
        self
    }

    /// Its name.
    pub fn id(&self) -> &RunId {
        &self.id
    }

    /// The next event; `None` when the run is over. Then [`wait`](Self::wait) returns at once.
    pub async fn next_event(&self) -> Option<Event> {
        self.handle.next_event().await
    }

    /// Waits for the end of everything the run started. Any number of callers may, any number of times; all get
    /// the same answer. It does not read output: a command that writes more than its pipes hold waits for
    /// [`next_event`](Self::next_event) or [`collect`](Self::collect).
    pub async fn wait(&self) -> Result<Outcome> {
        let outcome = self.handle.wait().await?;
        Ok(Outcome { selection: self.selection.clone(), ..outcome })
    }

    /// Reads all output within the bounds of `capture` and waits for the end.
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

    /// Writes the command's standard input, for runs started with [`Stdin::Stream`](crate::Stdin::Stream) or a terminal.
    pub fn stdin(&self) -> StdinWriter {
        StdinWriter { handle: Arc::clone(&self.handle) }
    }

    /// A handle for signals and stopping that does not keep the run alive and does not kill it when dropped.
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

    /// Tells the run's terminal its size.
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
    /// Returns when the cell has taken the bytes; waits while the command does not read. A command that has
    /// closed its input, or ended, takes everything and reads nothing.
    pub async fn write(&self, bytes: impl Into<Bytes>) -> Result<()> {
        self.handle.write_stdin(bytes.into()).await
    }

    /// Ends the input; on a terminal it types the end-of-file character.
    pub fn close(self) {
        self.handle.close_stdin();
    }
}
