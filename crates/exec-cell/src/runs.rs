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
    /// The stream ended; the text says what is known.
    Died(String),
    /// The cell itself said why it can't go on.
    Fatal(Fatal),
    /// Somebody else ended it, and left word how.
    Stopped(String),
    /// Its memory was used up, and even its PID 1 was killed for it.
    OutOfMemory,
    /// The cell said something impossible.
    Broken(String),
}

/// How a run ended, as the cell tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) exited: Exited,
    pub(crate) closed: Closed,
    /// What the command wrote.
    pub(crate) written: Written,
    /// When the account arrived: every answer about the run is the same, however late it is asked for.
    pub(crate) at: Instant,
}

/// The end of a run, once known.
pub(crate) type Ending = Option<Result<Arc<Account>, Death>>;

/// To whoever waits for a run to start: the number of its process, or why there is none.
pub(crate) type StartSender = oneshot::Sender<Result<u32, Failed>>;

/// What the reading task holds of one run.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) events: mpsc::UnboundedSender<Event>,
    pub(crate) ending: watch::Sender<Ending>,
    pub(crate) stdin_credit: Arc<Semaphore>,
    pub(crate) started: Option<StartSender>,
    /// Output bytes the cell may still send: what it sends beyond is a breach.
    pub(crate) window: Arc<AtomicU32>,
    pub(crate) exited: Option<Exited>,
    pub(crate) written: Written,
    /// What has to be written down before anybody hears of the end.
    pub(crate) closing: Option<Closing>,
}

/// All runs of a cell.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    slots: Mutex<HashMap<u32, Slot>>,
    /// Who is to hear that a run has started.
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
    /// No more commands: the cell is going.
    pub(crate) fn close(&self) {
        self.dead.store(true, Ordering::Release);
    }

    /// The cell is gone: every run that has no ending gets this one.
    pub(crate) fn die(&self, death: &Death) {
        let mut slots = self.lock();
        self.death.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| death.clone());
        self.close();
        for (_, mut slot) in slots.drain() {
            let ending = slot.ending_in(death);
            slot.end(ending);
        }
        // Whoever has not heard yet would wait for ever.
        self.announce();
    }

    /// What has to be written down at the end of a run that has begun; at once if it has ended already.
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
    /// Takes a frame about a run. Frames for a run that is over are ignored: they crossed its end.
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

    /// Tells of the runs that have started. After everything else that is known: a short command may have ended too, and
    /// whoever is woken goes on to ask for that.
    pub(crate) fn announce(&self) {
        for (waiting, pid) in self.started.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            waiting.send(Ok(pid)).ok();
        }
    }

    /// Takes a piece of output.
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
    /// Running out of memory is an end like any other, even if it took the supervisor along.
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

    /// Nobody hears of an end that is not written down.
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

/// A status from the wire. A signal number that does not exist is shown as SIGKILL's kin rather than refused:
/// the process is gone either way.
pub(crate) fn status(status: exec_wire::Status) -> Status {
    match status {
        exec_wire::Status::Code(code) => Status::Code(code),
        exec_wire::Status::Signal(number) => {
            Status::Signal(exec_core::Signal::new(number).unwrap_or(exec_core::Signal::KILL))
        }
    }
}
