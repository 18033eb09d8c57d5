//! One live cell.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use exec_control::Seat;
use exec_core::{Error, ErrorKind, Isolation, Result};
use exec_wire::{Facts, Fatal, PROTOCOL_VERSION, ToCell};
use tokio::sync::{Mutex, Notify, mpsc, oneshot};
use tokio::time::timeout;

use crate::maker::{CellIo, Keeper, PostMortem};
use crate::reader::{self, CellReplies};
use crate::runs::{Death, Runs};
use crate::writer::{self, FrameSender};

/// A cell that is not ready within this time never will be.
const READY_LIMIT: Duration = Duration::from_secs(20);

/// A cell that does not answer a ping within this time is not used.
const PING_LIMIT: Duration = Duration::from_secs(2);

/// A cell whose stream is closed ends by itself in milliseconds; after this long it is ended by force.
const TEARDOWN_LIMIT: Duration = Duration::from_secs(2);

/// A cell with its two tasks. Dropping the last reference closes its stream, which ends everything inside.
#[derive(Debug)]
pub(crate) struct Cell {
    pub(crate) facts: Facts,
    pub(crate) sender: FrameSender,
    pub(crate) runs: Arc<Runs>,
    pub(crate) seat: Seat,
    keeper: Arc<dyn Keeper>,
    doom: Arc<Notify>,
    pongs: Mutex<mpsc::UnboundedReceiver<u64>>,
    next_run: AtomicU32,
    next_ping: AtomicU64,
}

impl Cell {
    /// Greets a new cell and waits until it is ready.
    pub(crate) async fn connect(io: CellIo, backend: &str) -> Result<Self> {
        let keeper: Arc<dyn Keeper> = io.keeper.into();
        let doom = Arc::<Notify>::default();
        let guard = DoomUnlessReady(Some(Arc::clone(&doom)));
        let runs = Arc::<Runs>::default();
        let sender = writer::spawn(io.writer);
        sender.send(0, &ToCell::Hello { version: PROTOCOL_VERSION });
        let (ready_sender, ready) = oneshot::channel();
        let (pong_sender, pongs) = mpsc::unbounded_channel();
        let replies = CellReplies { ready: ready_sender, pongs: pong_sender };
        let reading = reader::read_all(io.reader, Arc::clone(&runs), replies);
        let held = Held { runs: Arc::clone(&runs), keeper: Arc::clone(&keeper), seat: io.seat.clone() };
        tokio::spawn(attend(reading, held, sender.clone(), Arc::clone(&doom)));
        let facts = match timeout(READY_LIMIT, ready).await {
            Ok(Ok(Ok(facts))) => facts,
            Ok(Ok(Err(death))) => return Err(death_error(&death, backend, "make cell")),
            Ok(Err(_)) | Err(_) => {
                return Err(Error::new(
                    ErrorKind::CellDied,
                    "make cell",
                    "the sandbox did not become ready in time",
                )
                .with_backend(backend)
                .with_remedy("the machine may be overloaded; try again"));
            }
        };
        if facts.version != PROTOCOL_VERSION {
            return Err(Error::new(
                ErrorKind::Protocol,
                "make cell",
                "the sandbox speaks another protocol version",
            )
            .with_backend(backend)
            .with_context("ours", PROTOCOL_VERSION)
            .with_context("its", facts.version));
        }
        guard.disarm();
        Ok(Self {
            facts,
            sender,
            runs,
            seat: io.seat,
            keeper,
            doom,
            pongs: Mutex::new(pongs),
            next_run: AtomicU32::new(1),
            next_ping: AtomicU64::new(1),
        })
    }

    /// The number of the next run.
    pub(crate) fn next_run(&self) -> u32 {
        self.next_run.fetch_add(1, Ordering::Relaxed)
    }

    /// Whether it can still take commands, as far as is known without asking.
    pub(crate) fn is_alive(&self) -> bool {
        !self.runs.is_dead()
    }

    /// Whether it answers.
    pub(crate) async fn ping(&self) -> bool {
        let nonce = self.next_ping.fetch_add(1, Ordering::Relaxed);
        let mut pongs = self.pongs.lock().await;
        self.sender.send(0, &ToCell::Ping(nonce));
        let answer = async {
            while let Some(pong) = pongs.recv().await {
                if pong == nonce {
                    return true;
                }
            }
            false
        };
        timeout(PING_LIMIT, answer).await.unwrap_or(false)
    }

    /// Ends the cell by force: for a cell that does not obey.
    pub(crate) fn destroy(&self) {
        self.doom.notify_one();
    }

    /// Closes its stream and waits until nothing of it is left.
    pub(crate) async fn end(&self) {
        tear_down(&self.sender, &*self.keeper).await;
    }
}

impl Drop for Cell {
    fn drop(&mut self) {
        self.sender.close();
    }
}

/// The attendant's handles on its cell.
struct Held {
    runs: Arc<Runs>,
    keeper: Arc<dyn Keeper>,
    seat: Seat,
}

/// The cell's attendant: reads to the end of the stream or until the cell is doomed, then makes sure nothing is left.
async fn attend(reading: impl Future<Output = Death>, held: Held, sender: FrameSender, doom: Arc<Notify>) {
    let Held { runs, keeper, seat } = held;
    let mut reading = pin!(reading);
    let death = tokio::select! {
        death = &mut reading => death,
        () = doom.notified() => Death::Died("it did not end when it had to and was destroyed".into()),
        // A cell that was ordered to end gets little time, whatever happens to its stream.
        () = sender.closed() => {
            let died = Death::Died("it did not end when its stream was closed".into());
            timeout(TEARDOWN_LIMIT, reading).await.unwrap_or(died)
        }
        // Nothing cleans up after a cell without its keeper, so it is ordered to end.
        () = keeper.gone() => {
            sender.close();
            let died = Death::Died("its keeper was gone".into());
            timeout(TEARDOWN_LIMIT, reading).await.unwrap_or(died)
        }
    };
    runs.close();
    tear_down(&sender, &*keeper).await;
    let death = match seat.why_ended() {
        Some(how) => Death::Stopped(how),
        None => explain(death, keeper.post_mortem()),
    };
    runs.die(&death);
}

/// The backend's findings may explain more than the end of a stream.
fn explain(death: Death, found: PostMortem) -> Death {
    match (death, found) {
        (Death::Died(_) | Death::Fatal(_), PostMortem::OutOfMemory) => Death::OutOfMemory,
        (Death::Died(why), PostMortem::Found(found)) => Death::Died(format!("{why}; {found}")),
        (Death::Fatal(Fatal::Other(why)), PostMortem::Found(found)) => {
            Death::Fatal(Fatal::Other(format!("{why}; {found}")))
        }
        (death, _) => death,
    }
}

/// Closing the stream lets the cell end in order and clean up after itself; force is the last resort.
async fn tear_down(sender: &FrameSender, keeper: &dyn Keeper) {
    sender.close();
    if timeout(TEARDOWN_LIMIT, keeper.gone()).await.is_err() {
        keeper.kill();
        keeper.gone().await;
    }
}

/// Ends a cell whose caller gives up while it is being made.
struct DoomUnlessReady(Option<Arc<Notify>>);

impl DoomUnlessReady {
    fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for DoomUnlessReady {
    fn drop(&mut self) {
        if let Some(doom) = &self.0 {
            doom.notify_one();
        }
    }
}

/// The error for a caller that lost its cell.
pub(crate) fn death_error(death: &Death, backend: &str, operation: &'static str) -> Error {
    let (kind, message) = match death {
        Death::Fatal(fatal) => {
            return Error::new(ErrorKind::CellDied, operation, "the sandbox ended unexpectedly")
                .with_backend(backend)
                .with_source(fatal.clone());
        }
        Death::Died(why) => (ErrorKind::CellDied, format!("the sandbox ended unexpectedly: {why}")),
        Death::Stopped(how) => (ErrorKind::CellDied, format!("the run was stopped {how}")),
        Death::OutOfMemory => (ErrorKind::CellDied, "the sandbox used up its memory".into()),
        Death::Broken(why) => {
            (ErrorKind::Protocol, format!("the sandbox broke its protocol and was destroyed: {why}"))
        }
    };
    Error::new(kind, operation, message).with_backend(backend)
}

/// The cell's own reason for its end, if this error has one.
pub fn fatal(error: &Error) -> Option<&Fatal> {
    error.cause().and_then(|cause| cause.downcast_ref())
}

/// The facts that hold for every run of a cell, shared by all its results.
#[derive(Debug, Clone)]
pub(crate) struct Standing {
    pub(crate) backend: Arc<str>,
    pub(crate) isolation: Arc<Isolation>,
}
