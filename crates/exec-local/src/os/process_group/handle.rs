//! The caller's side of a run in a process group.

use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use bytes::Bytes;
use exec_control::{RunNote, Seat};
use exec_core::{
    Error, ErrorKind, Event, Isolation, Outcome, Plan, Result, RunHandle, Signal, Stdin, WindowSize,
};
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin};
use tokio::sync::{Mutex, mpsc, watch};

use super::pump::{self, Order};
use crate::config::NAME;

/// The most output pieces in flight.
const PIECES: usize = 32;

/// A run in a process group.
#[derive(Debug)]
pub(super) struct GroupRun {
    events: Mutex<mpsc::Receiver<Event>>,
    stdin: Mutex<Option<ChildStdin>>,
    orders: mpsc::UnboundedSender<Order>,
    outcome: watch::Receiver<Option<Outcome>>,
}

/// The record of a run, removed when the run has ended.
#[derive(Debug)]
pub(super) struct Papers {
    pub(super) note: RunNote,
    pub(super) seat: Seat,
}

impl GroupRun {
    /// Starts the task that follows the child to its end.
    pub(super) fn attend(
        mut child: Child,
        plan: &Plan,
        isolation: Arc<Isolation>,
        papers: Papers,
    ) -> Arc<Self> {
        let (event_sender, events) = mpsc::channel(PIECES);
        let (orders, order_receiver) = mpsc::unbounded_channel();
        let (outcome_sender, outcome) = watch::channel(None);
        let stdin = child.stdin.take();
        let run = Arc::new(Self { events: Mutex::new(events), stdin: Mutex::new(stdin), orders, outcome });
        let limits = pump::Limits::new(plan);
        tokio::spawn(async move {
            let (outcome, written) =
                pump::attend(child, limits, isolation, event_sender, order_receiver, Instant::now()).await;
            papers.note.ended(&outcome, written);
            papers.seat.gone();
            outcome_sender.send_replace(Some(outcome));
        });
        if let Stdin::Bytes(bytes) = &plan.stdin {
            let (run, bytes) = (Arc::clone(&run), bytes.clone());
            tokio::spawn(async move {
                run.write_stdin(bytes).await.ok();
                run.stdin.lock().await.take();
            });
        }
        run
    }
}

#[async_trait]
impl RunHandle for GroupRun {
    async fn next_event(&self) -> Option<Event> {
        self.events.lock().await.recv().await
    }

    async fn write_stdin(&self, bytes: Bytes) -> Result<()> {
        if let Some(stdin) = &mut *self.stdin.lock().await {
            // A command that closed its input, or ended, reads nothing: not an error.
            stdin.write_all(&bytes).await.ok();
        }
        Ok(())
    }

    fn close_stdin(&self) {
        if let Ok(mut stdin) = self.stdin.try_lock() {
            stdin.take();
        }
    }

    fn signal(&self, signal: Signal) {
        self.orders.send(Order::Signal(signal)).ok();
    }

    fn resize(&self, _: WindowSize) {}

    fn cancel(&self) {
        self.orders.send(Order::Cancel).ok();
    }

    fn kill(&self) {
        self.orders.send(Order::Kill).ok();
    }

    async fn wait(&self) -> Result<Outcome> {
        let known =
            self.outcome.clone().wait_for(Option::is_some).await.ok().and_then(|outcome| outcome.clone());
        known.ok_or_else(|| Error::new(ErrorKind::CellDied, "run", "the run was lost").with_backend(NAME))
    }
}
