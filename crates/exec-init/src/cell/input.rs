//! A command's standard input: bytes the host has sent and the command has not taken yet.
//!
//! The host may send only within its credit, so the queue never holds more than [`WINDOW`].

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

use rustix::io::Errno;

use super::tty::END_OF_INPUT;

/// Bytes the host may be ahead of the command.
pub(crate) const WINDOW: u32 = 256 * 1024;

/// The host sent more than it had credit for.
#[derive(Debug)]
pub(crate) struct Overrun;

/// The kind of descriptor the input is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Pipe,
    Tty,
}

pub(crate) struct Input {
    /// `None` once the command stopped reading or the last byte was written.
    fd: Option<Rc<OwnedFd>>,
    kind: Kind,
    queue: Vec<u8>,
    written: usize,
    credit: u32,
    owed: u32,
    ending: bool,
    last: u8,
}

impl Input {
    /// Until [`open`](Self::open) the host has no credit.
    pub(crate) fn new(fd: Rc<OwnedFd>, kind: Kind) -> Self {
        Self {
            fd: Some(fd),
            kind,
            queue: Vec::new(),
            written: 0,
            credit: 0,
            owed: 0,
            ending: false,
            last: b'\n',
        }
    }

    /// The first credit.
    pub(crate) fn open(&mut self) -> u32 {
        self.credit = WINDOW;
        WINDOW
    }

    /// Queues bytes from the host and writes as many as the command takes.
    pub(crate) fn accept(&mut self, bytes: &[u8]) -> Result<(), Overrun> {
        self.credit = self.credit.checked_sub(bytes.len() as u32).ok_or(Overrun)?;
        let Some(last) = bytes.last() else { return Ok(()) };
        if self.ending {
            self.owed = self.owed.saturating_add(bytes.len() as u32);
            return Ok(());
        }
        self.last = *last;
        let direct = if self.queue.is_empty() { self.write(bytes) } else { 0 };
        self.queue.extend_from_slice(bytes.get(direct..).unwrap_or_default());
        Ok(())
    }

    /// Marks the end of the input.
    pub(crate) fn finish(&mut self) {
        if self.ending {
            return;
        }
        self.ending = true;
        if self.kind == Kind::Tty {
            // On an unfinished line the first character only submits the line.
            let count = if self.last == b'\n' { 1 } else { 2 };
            self.queue.extend_from_slice(&[END_OF_INPUT; 2][..count]);
        }
        self.pump();
    }

    /// Writes as many bytes as the command takes now.
    pub(crate) fn pump(&mut self) {
        let queue = std::mem::take(&mut self.queue);
        let count = self.write(queue.get(self.written..).unwrap_or_default());
        self.queue = queue;
        self.written += count;
        if self.written >= self.queue.len() {
            self.queue.clear();
            self.written = 0;
            // The terminal also carries output and stays open; the end of input was sent in-band.
            if self.ending {
                self.fd = None;
            }
        }
    }

    /// The descriptor to poll while the command is slow to read.
    pub(crate) fn waits_on(&self) -> Option<BorrowedFd<'_>> {
        self.fd.as_ref().filter(|_| !self.queue.is_empty()).map(|fd| fd.as_fd())
    }

    /// Credit to return to the host, once it is worth a frame.
    pub(crate) fn repay(&mut self) -> Option<u32> {
        let due = self.owed >= WINDOW / 4 || (self.owed > 0 && self.queue.is_empty());
        if !due {
            return None;
        }
        let owed = std::mem::take(&mut self.owed).min(WINDOW - self.credit.min(WINDOW));
        self.credit += owed;
        (owed > 0).then_some(owed)
    }

    /// Returns how many bytes are done with: written, or dropped because the reader is gone.
    fn write(&mut self, bytes: &[u8]) -> usize {
        let mut done = 0;
        while let Some(rest) = bytes.get(done..).filter(|rest| !rest.is_empty()) {
            let Some(fd) = &self.fd else {
                done = bytes.len();
                break;
            };
            match rustix::io::write(fd, rest) {
                Ok(count) => done += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(_) => self.fd = None,
            }
        }
        self.owed = self.owed.saturating_add(done as u32);
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piped() -> (Input, OwnedFd) {
        let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::NONBLOCK).unwrap();
        (Input::new(Rc::new(write), Kind::Pipe), read)
    }

    fn read_some(fd: &OwnedFd) -> usize {
        rustix::io::read(fd, &mut vec![0; 65536]).unwrap_or(0)
    }

    #[test]
    fn bytes_without_credit_are_refused() {
        let (mut input, _read) = piped();
        assert!(input.accept(b"x").is_err());
        let window = input.open() as usize;
        assert!(input.accept(&vec![0; window]).is_ok());
        assert!(input.accept(b"x").is_err());
    }

    #[test]
    fn credit_comes_back_for_exactly_what_was_written() {
        let (mut input, read) = piped();
        input.open();
        input.accept(&vec![7; WINDOW as usize]).unwrap();
        let mut back = u64::from(input.repay().unwrap_or(0));
        let mut got = 0;
        while input.waits_on().is_some() {
            got += read_some(&read);
            input.pump();
            back += u64::from(input.repay().unwrap_or(0));
        }
        while let count @ 1.. = read_some(&read) {
            got += count;
        }
        assert_eq!((got, back), (WINDOW as usize, u64::from(WINDOW)));
    }

    #[test]
    fn the_end_comes_after_the_last_byte() {
        let (mut input, read) = piped();
        input.open();
        input.accept(&vec![7; 100_000]).unwrap();
        input.finish();
        let mut got = 0;
        loop {
            let mut room = vec![0; 65536];
            match rustix::io::read(&read, &mut room) {
                Ok(0) => break,
                Ok(count) => got += count,
                Err(_) => input.pump(),
            }
        }
        assert_eq!(got, 100_000);
    }

    #[test]
    fn a_reader_that_left_costs_nothing() {
        let (mut input, read) = piped();
        input.open();
        drop(read);
        for _ in 0..10 {
            input.accept(&vec![7; WINDOW as usize]).unwrap();
            assert_eq!(input.repay(), Some(WINDOW));
        }
        assert!(input.waits_on().is_none());
    }
}
