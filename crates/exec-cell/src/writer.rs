//! Sends frames to the cell.
//!
//! The sender writes a frame at once, as far as the stream takes it: a command must not wait until another task is
//! woken. Only the rest waits for the writing task. So a dropped future never cuts a frame short.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use exec_wire::ToCell;
use tokio::io::AsyncWrite;
use tokio::sync::{Notify, watch};

/// Sends frames to a cell. Everything but standard input is small and paced by the caller; standard input is
/// limited by the cell's credit. So the queue is bounded.
#[derive(Debug, Clone)]
pub(crate) struct FrameSender(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    outgoing: Mutex<Outgoing>,
    left_over: Notify,
    closed: watch::Sender<bool>,
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
    /// Sends a frame. Has no effect if the cell is gone.
    pub(crate) fn send(&self, run: u32, frame: &ToCell<'_>) {
        self.send_all(run, std::slice::from_ref(frame));
    }

    /// Sends several frames at once.
    pub(crate) fn send_all(&self, run: u32, frames: &[ToCell<'_>]) {
        self.0.change(|outgoing| {
            for frame in frames {
                frame.encode(run, &mut outgoing.queue);
            }
        });
    }

    /// Ends the stream, and with it the cell, after the queued frames.
    pub(crate) fn close(&self) {
        self.0.change(|outgoing| outgoing.closing = true);
        self.0.closed.send_replace(true);
    }

    /// Completes when the stream has been closed.
    pub(crate) async fn closed(&self) {
        self.0.closed.subscribe().wait_for(|closed| *closed).await.ok();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Outgoing> {
        self.outgoing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a change and writes what the stream takes now; the task is notified of the rest, and of the end. While the
    /// task waits for room, no other caller polls the stream: it wakes only the last one that did.
    fn change(&self, change: impl FnOnce(&mut Outgoing)) {
        let mut outgoing = self.lock();
        let task_waits = !outgoing.queue.is_empty();
        change(&mut outgoing);
        if task_waits {
            return;
        }
        let pending = outgoing.poll_write(&mut Context::from_waker(Waker::noop())).is_pending();
        if pending || outgoing.writer.is_none() {
            self.left_over.notify_one();
        }
    }
}

impl Outgoing {
    /// Ready when nothing is left to write. A failed write means that the cell is gone; the reading side learns and
    /// reports the same.
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
            // A connection that is also read from does not end with its writer, so it is shut down explicitly.
            if let Some(writer) = &mut self.writer
                && Pin::new(writer).poll_shutdown(context).is_pending()
            {
                return Poll::Pending;
            }
            self.writer = None;
        }
        Poll::Ready(())
    }
}

/// Starts the writing task. The stream ends with [`FrameSender::close`], or with the runtime.
pub(crate) fn spawn(writer: Box<dyn AsyncWrite + Send + Unpin>) -> FrameSender {
    let outgoing = Outgoing { writer: Some(writer), queue: Vec::new(), closing: false };
    let shared = Arc::new(Shared {
        outgoing: Mutex::new(outgoing),
        left_over: Notify::new(),
        closed: watch::Sender::new(false),
    });
    tokio::spawn(write_left_over(Arc::clone(&shared)));
    FrameSender(shared)
}

async fn write_left_over(shared: Arc<Shared>) {
    while shared.lock().writer.is_some() {
        shared.left_over.notified().await;
        poll_fn(|context| shared.lock().poll_write(context)).await;
    }
}

#[cfg(test)]
mod tests {
    use exec_wire::Header;
    use tokio::io::AsyncReadExt;

    use super::*;

    /// Many tasks send at once into a stream with little room: every frame arrives whole, and then the end.
    #[tokio::test]
    async fn nothing_is_lost_where_there_is_no_room() {
        let (near, mut far) = tokio::io::duplex(64);
        let sender = spawn(Box::new(near));
        let senders: Vec<_> = (0..4)
            .map(|run| {
                let sender = sender.clone();
                tokio::spawn(async move {
                    for _ in 0..50 {
                        sender.send(run, &ToCell::Stdin(&[7; 300]));
                        tokio::task::yield_now().await;
                    }
                })
            })
            .collect();
        let closer = tokio::spawn(async move {
            for sending in senders {
                sending.await.unwrap();
            }
            sender.close();
        });
        let mut received = Vec::new();
        far.read_to_end(&mut received).await.unwrap();
        closer.await.unwrap();
        let (mut rest, mut frames) = (received.as_slice(), 0);
        while let Some((header, payload)) = Header::split(rest).unwrap() {
            assert_eq!(ToCell::decode(&header, payload), Ok(ToCell::Stdin(&[7; 300])));
            rest = &rest[header.frame_len()..];
            frames += 1;
        }
        assert_eq!((frames, rest.len()), (200, 0));
    }
}
