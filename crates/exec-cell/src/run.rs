//! One run in a cell: the handle behind an `Execution`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use exec_control::{RunNote, Written};
use exec_core::{
    Error, ErrorKind, Event, Lifetime, Outcome, Plan, Result, RunHandle, Signal, Stdin, WindowSize,
};
use exec_wire::{Start, ToCell, credit_cost};
use tokio::sync::{Mutex, Semaphore, mpsc, oneshot, watch};
use tokio::time::{Instant, sleep, sleep_until};

use crate::cell::{Cell, death_error};
use crate::closing::{Closing, Terms};
use crate::pool::CALLER_FIRST;
use crate::request::{millis, start_error};
use crate::runs::{Ending, Slot};

/// The most output bytes in flight: the most we hold for a caller that stops reading.
const WINDOW: u32 = 2 * 1024 * 1024;

/// Credit is returned in steps of this size, which takes few frames.
const CREDIT_STEP: u32 = WINDOW / 4;

/// The largest piece of standard input sent at once.
const STDIN_PIECE: usize = 64 * 1024;

/// The cell enforces every deadline itself; the host steps in only if it is this much overdue.
const BACKSTOP: Duration = Duration::from_secs(5);

/// A run in a cell.
#[derive(Debug)]
pub(crate) struct Run {
    number: u32,
    cell: Arc<Cell>,
    terms: Arc<Terms>,
    grace: Duration,
    events: Mutex<mpsc::UnboundedReceiver<Event>>,
    ending: watch::Receiver<Ending>,
    stdin_credit: Arc<Semaphore>,
    window: Arc<AtomicU32>,
    consumed: AtomicU32,
    backstop: watch::Sender<Option<Instant>>,
}

impl Run {
    /// Starts a planned command and returns once it runs; its end is written into the note. The work `beside` it begins
    /// before the command does: a caller that learns of the end must not wait for that work.
    pub(crate) async fn start<F>(
        cell: Arc<Cell>,
        terms: Terms,
        plan: &Plan,
        start: Start,
        note: RunNote,
        beside: impl FnOnce(watch::Receiver<Ending>) -> F,
    ) -> Result<Arc<Self>>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let run = match Self::begin(cell, terms, plan, start, beside).await {
            Ok((run, pid)) => {
                note.runs_as(pid);
                run
            }
            Err(error) => {
                note.failed(&error);
                return Err(error);
            }
        };
        let closing = Closing { terms: Arc::clone(&run.terms), note };
        run.cell.runs.on_end(run.number, &run.ending, closing);
        Ok(run)
    }

    async fn begin<F>(
        cell: Arc<Cell>,
        terms: Terms,
        plan: &Plan,
        start: Start,
        beside: impl FnOnce(watch::Receiver<Ending>) -> F,
    ) -> Result<(Arc<Self>, u32)>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let number = cell.next_run();
        let (event_sender, events) = mpsc::unbounded_channel();
        let (ending_sender, ending) = watch::channel(None);
        let (started_sender, started) = oneshot::channel();
        let stdin_credit = Arc::new(Semaphore::new(0));
        let window = Arc::new(AtomicU32::new(WINDOW));
        let slot = Slot {
            events: event_sender,
            ending: ending_sender,
            stdin_credit: Arc::clone(&stdin_credit),
            started: Some(started_sender),
            window: Arc::clone(&window),
            exited: None,
            written: Written::default(),
            closing: None,
        };
        cell.runs.insert(number, slot);
        let wall = plan.limits.timeout.map(|wall| Instant::now() + wall + plan.grace + BACKSTOP);
        let (backstop, backstop_receiver) = watch::channel(wall);
        let run = Arc::new(Self {
            number,
            terms: Arc::new(terms),
            grace: plan.grace,
            events: Mutex::new(events),
            ending: ending.clone(),
            stdin_credit,
            window,
            consumed: AtomicU32::new(0),
            backstop,
            cell,
        });
        let unstarted = KillUnlessStarted(Some(Arc::clone(&run)));
        run.cell.sender.send_all(number, &[ToCell::Start(Box::new(start)), ToCell::Credit(WINDOW)]);
        let own_cell = plan.lifetime == Lifetime::Ephemeral;
        let (beside, guard) =
            (beside(ending.clone()), guard(Arc::clone(&run.cell), ending, backstop_receiver, own_cell));
        tokio::spawn(async move { tokio::join!(guard, beside) });
        let pid = match started.await {
            Ok(Ok(pid)) => pid,
            Ok(Err(failed)) => {
                unstarted.disarm();
                return Err(start_error(plan, &failed, &run.terms.standing.backend));
            }
            Err(_) => return Err(run.lost()),
        };
        unstarted.disarm();
        run.feed(&plan.stdin, plan.tty.is_some());
        Ok((run, pid))
    }

    /// Sends the input given in the options.
    fn feed(self: &Arc<Self>, stdin: &Stdin, tty: bool) {
        match stdin {
            Stdin::Bytes(bytes) => {
                let (run, bytes) = (Arc::clone(self), bytes.clone());
                tokio::spawn(async move {
                    if run.write_stdin(bytes).await.is_ok() {
                        run.close_stdin();
                    }
                });
            }
            Stdin::Empty if tty => self.close_stdin(),
            Stdin::Empty | Stdin::Stream => {}
        }
    }

    fn lost(&self) -> Error {
        match self.cell.runs.death() {
            Some(death) => death_error(&death, &self.terms.standing.backend, "run"),
            None => Error::new(ErrorKind::CellDied, "run", "the run was lost")
                .with_backend(&*self.terms.standing.backend),
        }
    }

    /// Returns credit to the cell for output the caller has taken.
    fn return_credit(&self, taken: u32) {
        let consumed = self.consumed.fetch_add(taken, Ordering::AcqRel) + taken;
        if consumed >= CREDIT_STEP {
            let credit = self.consumed.swap(0, Ordering::AcqRel);
            self.window.fetch_add(credit, Ordering::AcqRel);
            self.cell.sender.send(self.number, &ToCell::Credit(credit));
        }
    }

    /// Sends nothing to a cell that has nothing to stop: it would wake the cell, and the caller would wait.
    fn stop(&self, grace: Duration) {
        if self.ending.borrow().is_some() {
            return;
        }
        let limit = Instant::now() + grace + BACKSTOP;
        self.backstop
            .send_modify(|backstop| *backstop = Some(backstop.map_or(limit, |known| known.min(limit))));
        self.cell.sender.send(self.number, &ToCell::Stop { grace_ms: millis(grace) });
    }
}

#[async_trait]
impl RunHandle for Run {
    async fn next_event(&self) -> Option<Event> {
        let event = self.events.lock().await.recv().await;
        if let Some(Event::Output { bytes, .. }) = &event {
            self.return_credit(credit_cost(bytes.len() as u32));
        }
        event
    }

    async fn write_stdin(&self, mut bytes: Bytes) -> Result<()> {
        while !bytes.is_empty() {
            let piece = bytes.split_to(bytes.len().min(STDIN_PIECE));
            // Closed: the run is over, and its input has no reader.
            let Ok(permits) = self.stdin_credit.acquire_many(piece.len() as u32).await else { return Ok(()) };
            permits.forget();
            self.cell.sender.send(self.number, &ToCell::Stdin(&piece));
        }
        Ok(())
    }

    fn close_stdin(&self) {
        self.cell.sender.send(self.number, &ToCell::StdinEof);
    }

    fn signal(&self, signal: Signal) {
        self.cell.sender.send(self.number, &ToCell::Signal(signal.number()));
    }

    fn resize(&self, size: WindowSize) {
        let size = exec_wire::WindowSize { rows: size.rows, cols: size.cols };
        self.cell.sender.send(self.number, &ToCell::Resize(size));
    }

    fn cancel(&self) {
        self.stop(self.grace);
    }

    fn kill(&self) {
        self.stop(Duration::ZERO);
    }

    async fn wait(&self) -> Result<Outcome> {
        let mut ending = self.ending.clone();
        let known = ending.wait_for(Option::is_some).await.ok().and_then(|ending| ending.clone());
        match known {
            Some(Ok(account)) => Ok(self.terms.outcome(&account)),
            Some(Err(death)) => Err(death_error(&death, &self.terms.standing.backend, "run")),
            None => Err(self.lost()),
        }
    }
}

/// Kills a command whose caller gives up between sending it and learning that it runs.
struct KillUnlessStarted(Option<Arc<Run>>);

impl KillUnlessStarted {
    fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for KillUnlessStarted {
    fn drop(&mut self) {
        if let Some(run) = &self.0 {
            run.kill();
        }
    }
}

/// Destroys the cell of a run that overruns its end, and closes a cell whose only command has ended or never started.
async fn guard(
    cell: Arc<Cell>,
    mut ending: watch::Receiver<Ending>,
    mut backstop: watch::Receiver<Option<Instant>>,
    own_cell: bool,
) {
    loop {
        let limit = *backstop.borrow_and_update();
        let expired = async {
            match limit {
                Some(limit) => sleep_until(limit).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = ending.wait_for(Option::is_some) => break,
            () = expired => {
                tracing::warn!("a run did not end in time; its cell is destroyed");
                cell.destroy();
                break;
            }
            changed = backstop.changed() => if changed.is_err() { break },
        }
    }
    if own_cell {
        // Nothing runs in it any more, and removing it keeps the machine busy for longer than its command did.
        sleep(CALLER_FIRST).await;
        cell.sender.close();
    }
}
