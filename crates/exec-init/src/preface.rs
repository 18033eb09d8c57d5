//! The frame before the first: what PID 1, or its keeper, needs to know before it serves, and the failure to
//! report.
//!
//! Reads not one byte more than that frame: the rest of the stream belongs to the serving loop.

use exec_wire::{Fatal, FromCell, HEADER_LEN, Header};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use crate::helper::read_stdin;

/// Reads one frame from standard input.
pub(crate) fn read_frame() -> Result<(Header, Vec<u8>), String> {
    let mut head = [0; HEADER_LEN];
    read_exact(&mut head)?;
    let header = Header::parse(head).map_err(|error| error.to_string())?;
    let mut payload = vec![0; header.len as usize];
    read_exact(&mut payload)?;
    Ok((header, payload))
}

fn read_exact(mut buffer: &mut [u8]) -> Result<(), String> {
    while !buffer.is_empty() {
        match read_stdin(buffer) {
            Ok(0) => return Err("the stream ended".into()),
            Ok(count) => buffer = buffer.get_mut(count..).unwrap_or_default(),
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(())
}

/// Reports to the host why no cell is made. A host that is gone changes nothing.
pub(crate) fn send_fatal(why: Fatal) {
    let mut frame = Vec::new();
    FromCell::Fatal(why).encode(0, &mut frame);
    send(&frame);
}

/// Writes to the host before the loop serves it.
pub(crate) fn send(mut rest: &[u8]) {
    let stdout = rustix::stdio::stdout();
    while !rest.is_empty() {
        match rustix::io::write(stdout, rest) {
            Ok(count) => rest = rest.get(count..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                // Whether the wake-up was spurious or failed, the next write reports the state.
                let _ = poll(&mut [PollFd::new(&stdout, PollFlags::OUT)], None);
            }
            Err(_) => return,
        }
    }
}
