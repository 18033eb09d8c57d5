//! The two frames the keeper itself handles: the specification that comes in, the failure that goes out.
//!
//! Reads not one byte more than the specification: what follows on the stream belongs to PID 1.

use exec_wire::{FromCell, HEADER_LEN, Header, JailSpec, ToCell};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use super::fail::Fail;
use crate::helper::read_stdin;

/// Reads the cell's specification from standard input.
pub(super) fn read_spec() -> Result<JailSpec, Fail> {
    let mut head = [0; HEADER_LEN];
    read_exact(&mut head)?;
    let header = Header::parse(head).map_err(|error| broken(&error))?;
    let mut payload = vec![0; header.len as usize];
    read_exact(&mut payload)?;
    match ToCell::decode(&header, &payload).map_err(|error| broken(&error))? {
        ToCell::Jail(spec) => Ok(*spec),
        _ => Err(broken(&"another frame came first")),
    }
}

fn broken(why: &dyn std::fmt::Display) -> Fail {
    Fail::new("read", "the cell's specification", why)
}

fn read_exact(mut buffer: &mut [u8]) -> Result<(), Fail> {
    while !buffer.is_empty() {
        match read_stdin(buffer) {
            Ok(0) => return Err(broken(&"the stream ended")),
            Ok(count) => buffer = buffer.get_mut(count..).unwrap_or_default(),
            Err(error) => return Err(broken(&error)),
        }
    }
    Ok(())
}

/// Tells the host why there will be no cell. Nobody listening is no reason to do anything else.
pub(super) fn send_fatal(fail: &Fail) {
    let mut frame = Vec::new();
    FromCell::Fatal(fail.to_string()).encode(0, &mut frame);
    let stdout = rustix::stdio::stdout();
    let mut rest = frame.as_slice();
    while !rest.is_empty() {
        match rustix::io::write(stdout, rest) {
            Ok(count) => rest = rest.get(count..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                // Woken early or not at all, the next write says what is the matter.
                let _ = poll(&mut [PollFd::new(&stdout, PollFlags::OUT)], None);
            }
            Err(_) => return,
        }
    }
}

/// Says something to whoever reads the keeper's diagnostics.
pub(super) fn diagnose(text: &str) {
    let _ = rustix::io::write(rustix::stdio::stderr(), format!("exec-init: {text}\n").as_bytes());
}
