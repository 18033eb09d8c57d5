//! A container's output on its way to the caller: counted, bounded, and in the order of each stream.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bollard::container::LogOutput;
use bytes::{Bytes, BytesMut};
use exec_core::{Event, Stream};
use exec_watch::Written;
use exec_wire::credit_cost;
use futures_util::StreamExt;
use tokio::sync::{Notify, Semaphore, mpsc, oneshot};
use tokio::time::Instant;

use super::failure::may_be_last_words;
use crate::attach::Pieces;

/// Output bytes in flight at most: what a caller who stops reading can make us hold.
const WINDOW: u32 = 2 * 1024 * 1024;

/// What an engine may still hold of the output of a container that has ended: a megabyte a stream, and what is in pipes.
const AFTER_THE_END: usize = 4 * 1024 * 1024;

/// Room for output that nobody has taken yet.
#[derive(Debug, Clone)]
pub(super) struct Window(Arc<Semaphore>);

impl Window {
    pub(super) fn new() -> Self {
        Self(Arc::new(Semaphore::new(WINDOW as usize)))
    }

    /// Waits for room; false when nobody will ever take it.
    async fn fill(&self, bytes: &Bytes) -> bool {
        let room = self.0.acquire_many(cost(bytes)).await;
        room.map(tokio::sync::SemaphorePermit::forget).is_ok()
    }

    /// The caller has taken it.
    pub(super) fn empty(&self, bytes: &Bytes) {
        self.0.add_permits(cost(bytes) as usize);
    }

    /// Makes room for what is left of a container that is being killed: an engine does not let go of one whose output is
    /// not taken.
    pub(super) fn widen(&self) {
        self.0.add_permits(AFTER_THE_END);
    }

    /// Nobody reads any more.
    pub(super) fn close(&self) {
        self.0.close();
    }
}

/// A piece that is larger than the window has it for itself.
fn cost(bytes: &Bytes) -> u32 {
    credit_cost(u32::try_from(bytes.len()).unwrap_or(WINDOW)).min(WINDOW)
}

/// How much was written, and when last.
#[derive(Debug)]
pub(super) struct Meter {
    most: Option<u64>,
    bytes: AtomicU64,
    stderr_bytes: AtomicU64,
    last: Mutex<Instant>,
    too_much: Notify,
}

impl Meter {
    pub(super) fn new(most: Option<u64>) -> Self {
        let last = Mutex::new(Instant::now());
        Self {
            most,
            bytes: AtomicU64::new(0),
            stderr_bytes: AtomicU64::new(0),
            last,
            too_much: Notify::new(),
        }
    }

    /// Counts a piece and leaves of it what may be passed on.
    fn count(&self, stream: Stream, mut bytes: Bytes) -> Bytes {
        if stream == Stream::Stderr {
            self.stderr_bytes.fetch_add(bytes.len() as u64, Ordering::AcqRel);
        }
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        let before = self.bytes.fetch_add(bytes.len() as u64, Ordering::AcqRel);
        if let Some(most) = self.most {
            bytes.truncate(usize::try_from(most.saturating_sub(before)).unwrap_or(usize::MAX));
        }
        if self.is_too_much() {
            self.too_much.notify_one();
        }
        bytes
    }

    /// How much was written.
    pub(super) fn written(&self) -> Written {
        let stderr = self.stderr_bytes.load(Ordering::Acquire);
        Written { stdout: self.bytes.load(Ordering::Acquire).saturating_sub(stderr), stderr }
    }

    /// Whether more was written than may be.
    pub(super) fn is_too_much(&self) -> bool {
        self.most.is_some_and(|most| self.bytes.load(Ordering::Acquire) > most)
    }

    /// Waits for that.
    pub(super) async fn too_much(&self) {
        self.too_much.notified().await;
    }

    /// When something was written last.
    pub(super) fn last(&self) -> Instant {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where output goes.
#[derive(Debug)]
pub(super) struct Forward {
    pub(super) meter: Arc<Meter>,
    pub(super) window: Window,
    pub(super) events: mpsc::UnboundedSender<Event>,
    /// None once they are something else.
    pub(super) first_words: Option<FirstWords>,
}

/// What the container said first, kept back while it may be the init program's last words.
#[derive(Debug)]
pub(super) struct FirstWords {
    said: BytesMut,
    /// Told when there is nothing more to come; dropped when it can't be them.
    tell: oneshot::Sender<Bytes>,
}

impl FirstWords {
    pub(super) fn new() -> (Self, oneshot::Receiver<Bytes>) {
        let (tell, told) = oneshot::channel();
        (Self { said: BytesMut::new(), tell }, told)
    }
}

impl Forward {
    /// Passes everything on until the container closes its streams. When nobody listens any more it is read all the same:
    /// an engine does not let go of a container whose output is not taken.
    pub(super) async fn run(mut self, mut pieces: Pieces) {
        let mut listened_to = true;
        while let Some(piece) = pieces.next().await {
            let (stream, bytes) = match piece {
                Ok(LogOutput::StdOut { message }) => (Stream::Stdout, message),
                Ok(LogOutput::StdErr { message }) => (Stream::Stderr, message),
                Ok(LogOutput::StdIn { .. } | LogOutput::Console { .. }) => continue,
                Err(error) => {
                    tracing::debug!(%error, "the output of a container broke off");
                    break;
                }
            };
            if !listened_to || self.withhold(stream, &bytes) {
                continue;
            }
            let held = self.first_words.take().map(|first| (Stream::Stderr, first.said.freeze()));
            for (stream, bytes) in held.into_iter().chain([(stream, bytes)]) {
                listened_to = listened_to && self.pass_on(stream, bytes).await;
            }
        }
        if let Some(first) = self.first_words {
            first.tell.send(first.said.freeze()).ok();
        }
    }

    fn withhold(&mut self, stream: Stream, bytes: &[u8]) -> bool {
        let Some(first) = self.first_words.as_mut().filter(|_| stream == Stream::Stderr) else {
            return false;
        };
        let before = first.said.len();
        first.said.extend_from_slice(bytes);
        if may_be_last_words(&first.said) {
            return true;
        }
        first.said.truncate(before);
        false
    }

    /// False when nobody listens.
    async fn pass_on(&self, stream: Stream, bytes: Bytes) -> bool {
        let bytes = self.meter.count(stream, bytes);
        bytes.is_empty()
            || (self.window.fill(&bytes).await && self.events.send(Event::Output { stream, bytes }).is_ok())
    }
}

#[cfg(test)]
mod tests;
