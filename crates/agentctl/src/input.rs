//! Our standard input, passed on to the command.
//!
//! It is read by a thread that nobody waits for: a read can't be called off, and agentctl must end when the command
//! does, not when the user presses the next key. The descriptor is shared with other processes and stays blocking.

use std::convert::Infallible;
use std::io;

use bytes::Bytes;
use exec_core::StdinWriter;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::stdio::stdin;
use tokio::sync::mpsc;

/// Most that is read at once.
const PIECE: usize = 64 * 1024;

/// Passes everything on, then the end; never returns unless it can't begin.
pub(crate) async fn feed(command: StdinWriter) -> io::Result<Infallible> {
    // One piece is read ahead; the rest stays where it is until the command has taken it.
    let (pieces, mut incoming) = mpsc::channel(1);
    std::thread::Builder::new().name("input".into()).spawn(move || read_all(&pieces))?;
    while let Some(piece) = incoming.recv().await {
        // A run that is over takes nothing; its end is somebody else's to report.
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
            // What can't be read has ended as far as the command is concerned.
            Err(_) => return,
        }
    }
}
