//! Frames from the host, reassembled from the pieces that arrive.
//!
//! Holds at most one unfinished frame and one read's worth of bytes behind it. Knows frames, not their meaning.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use exec_wire::{HEADER_LEN, Header, MAX_DATA, WireError};
use rustix::io::Errno;

/// Room kept between frames; the extra room of a large frame is freed afterwards.
const ROOM: usize = HEADER_LEN + MAX_DATA as usize;

/// The result of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arrival {
    Bytes,
    Nothing,
    /// The host closed the stream.
    End,
}

pub(crate) struct Inbox {
    fd: OwnedFd,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Inbox {
    pub(crate) fn new(fd: OwnedFd) -> Self {
        Self { fd, buffer: Vec::new(), start: 0, end: 0 }
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Reads what the host has sent, up to the room there is.
    pub(crate) fn fill(&mut self) -> Arrival {
        self.make_room();
        let Some(room) = self.buffer.get_mut(self.end..) else { return Arrival::Nothing };
        match rustix::io::read(&self.fd, room) {
            Ok(0) => Arrival::End,
            Ok(count) => {
                self.end += count;
                Arrival::Bytes
            }
            Err(Errno::AGAIN | Errno::INTR) => Arrival::Nothing,
            Err(_) => Arrival::End,
        }
    }

    /// The next whole frame. Call until `None`, then [`fill`](Self::fill) again.
    pub(crate) fn next(&mut self) -> Result<Option<(Header, &[u8])>, WireError> {
        let pending = self.buffer.get(self.start..self.end).unwrap_or_default();
        let Some((header, payload)) = Header::split(pending)? else { return Ok(None) };
        self.start += header.frame_len();
        Ok(Some((header, payload)))
    }

    fn make_room(&mut self) {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            if self.buffer.len() > ROOM {
                self.buffer = Vec::new();
            }
        } else if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        let wanted = self.promised().max(ROOM);
        if self.buffer.len() < wanted {
            // Fresh zeroed memory costs nothing until it is written to; resizing would write all of it.
            let mut larger = vec![0; wanted];
            if let (Some(to), Some(from)) = (larger.get_mut(..self.end), self.buffer.get(..self.end)) {
                to.copy_from_slice(from);
            }
            self.buffer = larger;
        }
    }

    /// Length of the unfinished frame at the front. Its header was checked, so this is bounded.
    fn promised(&self) -> usize {
        let pending = self.buffer.get(..self.end).unwrap_or_default();
        pending
            .first_chunk::<HEADER_LEN>()
            .and_then(|head| Header::parse(*head).ok())
            .map_or(0, Header::frame_len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use exec_wire::{Start, Stdio, ToCell};

    fn pair() -> (Inbox, OwnedFd) {
        let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::NONBLOCK).unwrap();
        (Inbox::new(read), write)
    }

    fn big_start() -> Vec<u8> {
        let mut bytes = Vec::new();
        ToCell::Start(Box::new(Start {
            argv: vec![vec![b'a'; 900_000], vec![b'b'; 900_000]],
            env: Vec::new(),
            cwd: b"/".to_vec(),
            stdio: Stdio::Pipes { stdin: false },
            limits: exec_wire::Limits {
                wall_ms: None,
                idle_ms: None,
                output_bytes: None,
                grace_ms: 0,
                drain_ms: 0,
            },
            lifetime: exec_wire::Lifetime::Cell,
            umask: 0o22,
            rlimits: Vec::new(),
        }))
        .encode(1, &mut bytes);
        bytes
    }

    #[test]
    fn a_frame_larger_than_the_room_arrives_whole_and_the_room_shrinks_again() {
        let (mut inbox, write) = pair();
        let mut bytes = big_start();
        ToCell::Ping(5).encode(0, &mut bytes);
        let mut rest = bytes.as_slice();
        let mut kinds = Vec::new();
        while kinds.len() < 2 {
            let sent = rustix::io::write(&write, rest).unwrap_or(0);
            rest = &rest[sent..];
            assert_eq!(inbox.fill(), Arrival::Bytes);
            while let Some((header, payload)) = inbox.next().unwrap() {
                kinds.push(matches!(ToCell::decode(&header, payload).unwrap(), ToCell::Ping(5)));
            }
        }
        assert_eq!(kinds, [false, true]);
        assert_eq!(inbox.fill(), Arrival::Nothing);
        assert_eq!(inbox.buffer.len(), ROOM);
        drop(write);
        assert_eq!(inbox.fill(), Arrival::End);
    }

    #[test]
    fn frames_arrive_whole_from_single_bytes() {
        let (mut inbox, write) = pair();
        let mut bytes = Vec::new();
        ToCell::Signal(9).encode(3, &mut bytes);
        let (last, head) = bytes.split_last().unwrap();
        for byte in head {
            rustix::io::write(&write, &[*byte]).unwrap();
            assert_eq!(inbox.fill(), Arrival::Bytes);
            assert!(inbox.next().unwrap().is_none());
        }
        rustix::io::write(&write, &[*last]).unwrap();
        assert_eq!(inbox.fill(), Arrival::Bytes);
        let (header, payload) = inbox.next().unwrap().unwrap();
        assert_eq!(header.run, 3);
        assert_eq!(ToCell::decode(&header, payload).unwrap(), ToCell::Signal(9));
    }
}
