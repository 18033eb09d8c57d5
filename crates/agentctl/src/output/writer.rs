//! Writes to our standard output and error from its own thread.
//!
//! A reader that has stopped reading (a pager, a stopped terminal) blocks the writer. It must not block the
//! rest of the program: signals still have to reach the run. The descriptors are shared with other processes,
//! so they can't be made non-blocking. Hence a thread, which starts with the first output and is not joined
//! at exit.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use bytes::Bytes;
use exec_core::Stream;
use exec_core::printable::Sanitizer;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use tokio::sync::{Notify, mpsc, oneshot};

/// Pieces of output that queue for the thread while it writes one; more output waits in the command's own
/// pipe.
const QUEUE: usize = 1;

/// The treatment of control sequences, per stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Escapes {
    pub(crate) stdout: Treatment,
    pub(crate) stderr: Treatment,
}

/// The treatment of control sequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Treatment {
    /// They pass through.
    AsIs,
    /// All but colours are spelt out.
    Visible,
}

/// A handle on the thread.
#[derive(Debug)]
pub(super) struct Writer {
    pieces: mpsc::Sender<(Stream, Bytes)>,
    result: oneshot::Receiver<io::Result<()>>,
}

impl Writer {
    /// Starts the thread; `failed` is notified when it can't write any more.
    pub(super) fn start(escapes: Escapes, failed: Arc<Notify>) -> io::Result<Self> {
        let (pieces, mut incoming) = mpsc::channel(QUEUE);
        let (report, result) = oneshot::channel();
        std::thread::Builder::new().name("output".into()).spawn(move || {
            let written = write_all_pieces(&mut incoming, escapes);
            if written.is_err() {
                failed.notify_one();
            }
            // The receiver is gone when the output was given up.
            let _ = report.send(written);
        })?;
        Ok(Self { pieces, result })
    }

    /// Waits until a piece would be accepted at once, or the thread has failed.
    pub(super) async fn ready(&self) {
        let _ = self.pieces.reserve().await;
    }

    /// Waits for room. After a failure everything is accepted and dropped; [`finish`](Self::finish) returns
    /// the reason.
    pub(super) async fn send(&self, stream: Stream, bytes: Bytes) {
        let _ = self.pieces.send((stream, bytes)).await;
    }

    /// Waits until all is written.
    pub(super) async fn finish(self) -> io::Result<()> {
        drop(self.pieces);
        self.result.await.unwrap_or_else(|_| Err(io::Error::other("the output thread ended early")))
    }
}

fn write_all_pieces(pieces: &mut mpsc::Receiver<(Stream, Bytes)>, escapes: Escapes) -> io::Result<()> {
    let mut stdout = Sink::new(rustix::stdio::stdout(), escapes.stdout);
    let mut stderr = Sink::new(rustix::stdio::stderr(), escapes.stderr);
    while let Some((stream, bytes)) = pieces.blocking_recv() {
        match stream {
            Stream::Stdout => stdout.write(&bytes)?,
            Stream::Stderr => stderr.write(&bytes)?,
        }
    }
    stdout.finish()?;
    stderr.finish()
}

struct Sink {
    fd: BorrowedFd<'static>,
    sanitizer: Option<Sanitizer>,
    shown: Vec<u8>,
}

impl Sink {
    fn new(fd: BorrowedFd<'static>, treatment: Treatment) -> Self {
        let sanitizer = (treatment == Treatment::Visible).then(Sanitizer::default);
        Self { fd, sanitizer, shown: Vec::new() }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(sanitizer) = &mut self.sanitizer else { return write_all(self.fd, bytes) };
        self.shown.clear();
        sanitizer.push(bytes, &mut self.shown);
        write_all(self.fd, &self.shown)
    }

    fn finish(&mut self) -> io::Result<()> {
        let Some(sanitizer) = &mut self.sanitizer else { return Ok(()) };
        self.shown.clear();
        sanitizer.finish(&mut self.shown);
        write_all(self.fd, &self.shown)
    }
}

/// Writes everything, even to a descriptor that another process has made non-blocking.
pub(super) fn write_all(fd: BorrowedFd<'_>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(fd, bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => wait_for_room(fd)?,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn wait_for_room(fd: BorrowedFd<'_>) -> io::Result<()> {
    match poll(&mut [PollFd::new(&fd, PollFlags::OUT)], None) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
