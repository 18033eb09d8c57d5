//! The runs of one cell, as the reading task sees them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use exec_control::Written;
use exec_core::{Event, Signal, Status, Stream};
use exec_wire::{Closed, EndReason, Exited, Failed, Fatal, FromCell, credit_cost};
use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio::time::Instant;

use crate::closing::Closing;

/// Why a run has no outcome: its cell ended, or broke the protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Death {
    /// The stream ended; the text is what is known.
    Died(String),
    /// The cell itself reported why it can't go on.
    Fatal(Fatal),
    /// Another process ended it, and left this reason.
    Stopped(String),
    /// It ran out of memory, and even its PID 1 was killed.
    OutOfMemory,
    /// The cell broke the protocol.
    Broken(String),
}

/// How a run ended, as reported by the cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) exited: Exited,
    pub(crate) closed: Closed,
    /// How much the command wrote.
    pub(crate) written: Written,
    /// When the account arrived. Every answer about the run is the same, however late the question.
    pub(crate) at: Instant,
}

/// The end of a run, once known.
pub(crate) type Ending = Option<Result<Arc<Account>, Death>>;

/// Notifies the caller that waits for a start: the pid, or why there is none.
pub(crate) type StartSender = oneshot::Sender<Result<u32, Failed>>;

/// The reading task's handles on one run.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) events: mpsc::UnboundedSender<Event>,
    pub(crate) ending: watch::Sender<Ending>,
    pub(crate) stdin_credit: Arc<Semaphore>,
    pub(crate) started: Option<StartSender>,
    /// Output bytes the cell may still send; more is a breach of protocol.
    pub(crate) window: Arc<AtomicU32>,
    pub(crate) exited: Option<Exited>,
    pub(crate) written: Written,
    /// The note to finish before the caller is notified of the end.
    pub(crate) closing: Option<Closing>,
}

/// All runs of a cell.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    slots: Mutex<HashMap<u32, Slot>>,
    /// Callers to notify that their run has started.
    started: Mutex<Vec<(StartSender, u32)>>,
    dead: AtomicBool,
    death: Mutex<Option<Death>>,
}

impl Runs {
    /// Adds a run; on a dead cell the slot's ending is set at once.
    pub(crate) fn insert(&self, run: u32, slot: Slot) {
        let mut slots = self.lock();
        if let Some(death) = self.death() {
            slot.ending.send_replace(Some(Err(death)));
        } else {
            slots.insert(run, slot);
        }
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.dead.load(Ordering::Acquire)
    }

    pub(crate) fn death(&self) -> Option<Death> {
        self.death.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
    /// Refuses further commands: the cell is ending.
    pub(crate) fn close(&self) {
        self.dead.store(true, Ordering::Release);
    }

    /// Gives this ending to every run that has none: the cell is gone.
    pub(crate) fn die(&self, death: &Death) {
        let mut slots = self.lock();
        self.death.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| death.clone());
        self.close();
        for (_, mut slot) in slots.drain() {
            let ending = slot.ending_in(death);
            slot.end(ending);
        }
        // A caller that was not notified yet would wait forever.
        self.announce();
    }

    /// Sets the note to finish at the end of a run, or finishes it now if the run has already ended.
    pub(crate) fn on_end(&self, run: u32, ending: &watch::Receiver<Ending>, closing: Closing) {
        match self.lock().get_mut(&run) {
            Some(slot) => slot.closing = Some(closing),
            None => {
                if let Some(ending) = &*ending.borrow() {
                    closing.write(ending);
                }
            }
        }
    }
    /// Handles a frame about a run. Frames for a run that is over are ignored: they crossed its end.
    pub(crate) fn deliver(&self, run: u32, frame: FromCell<'_>) -> Result<(), String> {
        let mut slots = self.lock();
        let Some(slot) = slots.get_mut(&run) else { return Ok(()) };
        match frame {
            FromCell::Started { pid } => {
                let waiting = slot.on_started(pid);
                self.started.lock().unwrap_or_else(PoisonError::into_inner).extend(waiting);
            }
            FromCell::Failed(failed) => {
                if let Some(started) = slot.started.take() {
                    started.send(Err(failed)).ok();
                }
                slots.remove(&run);
            }
            FromCell::StdinCredit(bytes) => slot.stdin_credit.add_permits(bytes as usize),
            FromCell::Exited(exited) => slot.on_exited(exited),
            FromCell::Closed(closed) => {
                let exited = slot.exited.ok_or("a run was closed before it exited")?;
                let account = Account { exited, closed, written: slot.written, at: Instant::now() };
                slot.end(Ok(Arc::new(account)));
                slots.remove(&run);
            }
            other => return Err(format!("unexpected frame about a run: {other:?}")),
        }
        Ok(())
    }

    /// Notifies the callers of started runs. This comes last: a short command may have ended too, and a caller that
    /// wakes up asks for the end next.
    pub(crate) fn announce(&self) {
        for (waiting, pid) in self.started.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            waiting.send(Ok(pid)).ok();
        }
    }

    /// Handles a piece of output.
    pub(crate) fn output(&self, run: u32, stream: Stream, bytes: bytes::Bytes) -> Result<(), String> {
        let mut slots = self.lock();
        let Some(slot) = slots.get_mut(&run) else { return Ok(()) };
        let cost = credit_cost(bytes.len() as u32);
        let within =
            slot.window.fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| left.checked_sub(cost));
        within.map_err(|left| format!("output that costs {cost} against a credit of {left}"))?;
        let written = match stream {
            Stream::Stdout => &mut slot.written.stdout,
            Stream::Stderr => &mut slot.written.stderr,
        };
        *written = written.saturating_add(bytes.len() as u64);
        slot.events.send(Event::Output { stream, bytes }).ok();
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u32, Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    /// Running out of memory is an end like any other, even if it killed the supervisor.
    fn ending_in(&self, death: &Death) -> Result<Arc<Account>, Death> {
        if *death != Death::OutOfMemory || self.started.is_some() {
            return Err(death.clone());
        }
        let killed =
            Exited { reason: EndReason::Own, status: exec_wire::Status::Signal(Signal::KILL.number()) };
        let closed = Closed { oom_kills: 1, ..Closed::default() };
        let exited = self.exited.unwrap_or(killed);
        Ok(Arc::new(Account { exited, closed, written: self.written, at: Instant::now() }))
    }

    /// Writes the record of the end before the caller is notified.
    fn end(&mut self, ending: Result<Arc<Account>, Death>) {
        self.stdin_credit.close();
        if let Some(closing) = self.closing.take() {
            closing.write(&ending);
        }
        self.ending.send_replace(Some(ending));
    }

    fn on_started(&mut self, pid: u32) -> Option<(StartSender, u32)> {
        let started = self.started.take()?;
        self.events.send(Event::Started { pid }).ok();
        Some((started, pid))
    }

    fn on_exited(&mut self, exited: Exited) {
        self.window.fetch_add(exec_wire::MAX_AFTER_EXIT, Ordering::AcqRel);
        self.exited = Some(exited);
        self.events.send(Event::Exited(status(exited.status))).ok();
    }
}

/// Converts a status from the wire. A signal number that does not exist is shown as SIGKILL's kin rather than
/// refused: the process is gone either way.
pub(crate) fn status(status: exec_wire::Status) -> Status {
    match status {
        exec_wire::Status::Code(code) => Status::Code(code),
        exec_wire::Status::Signal(number) => {
            Status::Signal(exec_core::Signal::new(number).unwrap_or(exec_core::Signal::KILL))
        }
    }
}
