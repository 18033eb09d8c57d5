//! One background command: a task reads its output into a bounded log, so the command never waits for a reader.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use exec_core::{Control, Error, ErrorKind, Event, Execution, Outcome, Result, StdinWriter};
use tokio::sync::{Mutex as AsyncMutex, watch};
use tokio::task::AbortHandle;

use super::log::{Log, Page};

/// How long a command may leave its input unread before the write fails.
const PATIENCE: Duration = Duration::from_secs(10);

/// The state of a command.
#[derive(Debug, Clone)]
pub(crate) enum State {
    Running,
    Ended(Arc<Outcome>),
    /// The sandbox failed during the run.
    Lost(String),
}

/// A background command. Dropping it kills it.
#[derive(Debug)]
pub(crate) struct Command {
    /// The requested script.
    pub(crate) script: String,
    shared: Arc<Shared>,
    control: Control,
    stdin: AsyncMutex<Option<StdinWriter>>,
    task: AbortHandle,
}

#[derive(Debug)]
struct Shared {
    log: Mutex<Log>,
    /// Changes with all output, and with the end.
    state: watch::Sender<State>,
}

impl Command {
    /// Takes over a run; at most `most` bytes of its output are kept.
    pub(crate) fn watch(script: String, run: Execution, most: usize) -> Self {
        let shared =
            Arc::new(Shared { log: Mutex::new(Log::new(most)), state: watch::Sender::new(State::Running) });
        let (control, stdin) = (run.control(), AsyncMutex::new(Some(run.stdin())));
        let task = tokio::spawn(attend(run, Arc::clone(&shared))).abort_handle();
        Self { script, shared, control, stdin, task }
    }

    pub(crate) fn state(&self) -> State {
        self.shared.state.borrow().clone()
    }

    pub(crate) fn is_running(&self) -> bool {
        matches!(*self.shared.state.borrow(), State::Running)
    }

    /// Bytes written so far.
    pub(crate) fn written(&self) -> u64 {
        self.log().end()
    }

    /// The output from `cursor` on; waits up to `wait` if there is none yet and more may come.
    pub(crate) async fn read(&self, cursor: u64, most: usize, wait: Duration) -> Page {
        let mut changes = self.shared.state.subscribe();
        let news = changes.wait_for(|state| !matches!(state, State::Running) || self.log().end() > cursor);
        // Returns a page in either case: with new output, or after the timeout.
        let _ = tokio::time::timeout(wait, news).await;
        self.log().read(cursor, most)
    }

    /// Writes to its standard input.
    pub(crate) async fn write(&self, input: Bytes) -> Result<()> {
        let stdin = self.stdin.lock().await;
        let Some(writer) = &*stdin else {
            return Err(Error::new(ErrorKind::InvalidInput, "call", "its input was ended before")
                .with_remedy("start the command again"));
        };
        tokio::time::timeout(PATIENCE, writer.write(input)).await.unwrap_or_else(|_| {
            Err(Error::new(
                ErrorKind::Io,
                "call",
                "it does not read its input; perhaps only a part was written",
            )
            .with_remedy("look at its output with read_output"))
        })
    }

    /// Closes its standard input.
    pub(crate) async fn end_input(&self) {
        if let Some(writer) = self.stdin.lock().await.take() {
            writer.close();
        }
    }

    /// Stops it, and returns when nothing of it is left.
    pub(crate) async fn stop(&self, force: bool) -> State {
        if force {
            self.control.kill();
        } else {
            self.control.cancel();
        }
        let mut changes = self.shared.state.subscribe();
        // The sender lives as long as `self`.
        let _ = changes.wait_for(|state| !matches!(state, State::Running)).await;
        self.state()
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.shared.log()
    }
}

impl Shared {
    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Command {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn attend(run: Execution, shared: Arc<Shared>) {
    while let Some(event) = run.next_event().await {
        if let Event::Output { stream, bytes } = event {
            shared.log().push(stream, &bytes);
            shared.state.send_modify(|_| ());
        }
    }
    let state = match run.wait().await {
        Ok(outcome) => State::Ended(Arc::new(outcome)),
        Err(error) => State::Lost(error.to_string()),
    };
    shared.state.send_replace(state);
}
