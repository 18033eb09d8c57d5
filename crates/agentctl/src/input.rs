//! Passes our standard input on to the command.
//!
//! A separate thread reads it, and the exit does not wait for that thread: a read can't be cancelled, and
//! agentctl must end with the command, not with the user's next key. The descriptor is shared with other
//! processes and stays blocking.

use std::convert::Infallible;
use std::io;

use bytes::Bytes;
use exec_core::StdinWriter;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::stdio::stdin;
use tokio::sync::mpsc;

/// The most to read at once.
const PIECE: usize = 64 * 1024;

/// Passes everything on, then the end; never returns unless it can't begin.
pub(crate) async fn feed(command: StdinWriter) -> io::Result<Infallible> {
    // One piece is read ahead; the rest stays in the pipe until the command has read.
    let (pieces, mut incoming) = mpsc::channel(1);
    std::thread::Builder::new().name("input".into()).spawn(move || read_all(&pieces))?;
    while let Some(piece) = incoming.recv().await {
        // A finished run accepts nothing; its end is reported elsewhere.
        if command.write(piece).await.is_err() {
            break;
        }
    }
    command.close();
    std::future::pending().await
}

fn read_all(pieces: &mpsc::Sender<Bytes>) {
    let mut buffer = vec![0; PIECE];
    loop {
        match rustix::io::read(stdin(), &mut buffer) {
            Ok(0) => return,
            Ok(count) => {
                if pieces.blocking_send(Bytes::copy_from_slice(&buffer[..count])).is_err() {
                    return;
                }
            }
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                let _ = poll(&mut [PollFd::new(&stdin(), PollFlags::IN)], None);
            }
            // For the command, a read error is the end of the input.
            Err(_) => return,
        }
    }
}
