//! Frames to the cell.
//!
//! A frame is written at once, by whoever sends it, as far as the stream takes it: a command must not wait for another
//! task to be woken first. Only what is left over waits for the writing task. So a frame is never cut short by a
//! dropped future.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use exec_wire::ToCell;
use tokio::io::AsyncWrite;
use tokio::sync::Notify;

/// Sends frames to a cell. Everything but standard input is small and paced by the caller; standard input is
/// sent against the cell's credit. So what can queue up here is bounded.
#[derive(Debug, Clone)]
pub(crate) struct FrameSender(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    outgoing: Mutex<Outgoing>,
    left_over: Notify,
}

struct Outgoing {
    /// `None` once the stream is closed.
    writer: Option<Box<dyn AsyncWrite + Send + Unpin>>,
    queue: Vec<u8>,
    closing: bool,
}

impl std::fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outgoing").field("queued", &self.queue.len()).finish_non_exhaustive()
    }
}

impl FrameSender {
    /// Sends a frame; a cell that is gone ignores it.
    pub(crate) fn send(&self, run: u32, frame: &ToCell<'_>) {
        self.send_all(run, std::slice::from_ref(frame));
    }

    /// Sends several frames at once.
    pub(crate) fn send_all(&self, run: u32, frames: &[ToCell<'_>]) {
        let mut outgoing = self.0.lock();
        for frame in frames {
            frame.encode(run, &mut outgoing.queue);
        }
        self.0.push_on(outgoing);
    }

    /// Ends the stream after what is queued, and with it the cell.
    pub(crate) fn close(&self) {
        let mut outgoing = self.0.lock();
        outgoing.closing = true;
        self.0.push_on(outgoing);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Outgoing> {
        self.outgoing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what the stream takes now; the task is told of the rest, and of the end.
    fn push_on(&self, mut outgoing: MutexGuard<'_, Outgoing>) {
        let pending = outgoing.poll_write(&mut Context::from_waker(Waker::noop())).is_pending();
        if pending || outgoing.writer.is_none() {
            self.left_over.notify_one();
        }
    }
}

impl Outgoing {
    /// Ready when nothing is left to write. A write that fails means that the cell is gone; the reading side learns the
    /// same and says so.
    fn poll_write(&mut self, context: &mut Context<'_>) -> Poll<()> {
        while let Some(writer) = self.writer.as_mut().filter(|_| !self.queue.is_empty()) {
            match Pin::new(writer).poll_write(context, &self.queue) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(written @ 1..)) => {
                    self.queue.drain(..written);
                }
                Poll::Ready(_) => self.writer = None,
            }
        }
        if self.writer.is_none() {
            self.queue = Vec::new();
        } else if self.closing {
            self.writer = None;
        }
        Poll::Ready(())
    }
}

/// Starts the writing task. The stream ends with [`FrameSender::close`], or with the runtime.
pub(crate) fn spawn(writer: Box<dyn AsyncWrite + Send + Unpin>) -> FrameSender {
    let outgoing = Outgoing { writer: Some(writer), queue: Vec::new(), closing: false };
    let shared = Arc::new(Shared { outgoing: Mutex::new(outgoing), left_over: Notify::new() });
    tokio::spawn(write_left_over(Arc::clone(&shared)));
    FrameSender(shared)
}

async fn write_left_over(shared: Arc<Shared>) {
    while shared.lock().writer.is_some() {
        shared.left_over.notified().await;
        poll_fn(|context| shared.lock().poll_write(context)).await;
    }
}
