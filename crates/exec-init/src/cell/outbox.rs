//! Frames to the host, in order and bounded by how fast the host reads.
//!
//! Output is read from a command only while the queue is empty, so the queue holds at most one unfinished
//! output frame and the small frames behind it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;
use std::time::{Duration, Instant};

use exec_wire::{FromCell, HEADER_LEN, Header, MAX_DATA};
use rustix::io::Errno;
use rustix::pipe::{SpliceFlags, fcntl_getpipe_size, fcntl_setpipe_size};

use super::stream::{Channel, waiting};

/// Requested size of the host's pipe, if it is one and the kernel grants it.
const PIPE_SIZE: usize = 1024 * 1024;

/// Size from which moving pages is cheaper than copying bytes.
const WORTH_SPLICING: usize = 64 * 1024;

/// Queued bytes beyond which no more requests are read from the host: it has to read answers first.
const ENOUGH: usize = 1024 * 1024;

/// How long a frame that is not urgent may wait to share a wake-up with one that is.
const COMPANY: Duration = Duration::from_millis(2);

/// The host no longer reads.
#[derive(Debug)]
pub(crate) struct HostGone;

/// The result of moving output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moved {
    Bytes(u64),
    /// No output, or no room at the host.
    Nothing,
    End,
}

pub(crate) struct Outbox {
    fd: OwnedFd,
    /// Both ends are pipes, so the kernel can move pages instead of copying bytes.
    can_splice: bool,
    /// The rest of a frame whose header is written; goes before the queue.
    transfer: Option<Transfer>,
    queue: Vec<u8>,
    sent: usize,
    chunk: Vec<u8>,
    /// Frames to send with the next one, or at this moment at the latest.
    late: Option<(Vec<u8>, Instant)>,
}

/// Output on its way from a command's pipe straight to the host's.
struct Transfer {
    source: Rc<OwnedFd>,
    left: usize,
}

impl Outbox {
    pub(crate) fn new(fd: OwnedFd) -> Self {
        // Only pipes have a size. A larger pipe means fewer switches between this process and the host.
        let can_splice = fcntl_setpipe_size(&fd, PIPE_SIZE).is_ok() || fcntl_getpipe_size(&fd).is_ok();
        Self { fd, can_splice, transfer: None, queue: Vec::new(), sent: 0, chunk: Vec::new(), late: None }
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.transfer.is_none()
    }

    /// Bytes of a stream that belong to a frame under way: already counted, but still in the pipe.
    pub(crate) fn promised(&self, source: &Rc<OwnedFd>) -> u64 {
        let of_it = self.transfer.as_ref().filter(|transfer| Rc::ptr_eq(&transfer.source, source));
        of_it.map_or(0, |transfer| transfer.left as u64)
    }

    pub(crate) fn is_full(&self) -> bool {
        self.queue.len() - self.sent > ENOUGH
    }

    pub(crate) fn push(&mut self, run: u32, frame: &FromCell<'_>) {
        self.hurry();
        frame.encode(run, &mut self.queue);
    }

    /// Queues a frame that the host is not waiting for: it wakes the host only if no other frame follows
    /// soon.
    pub(crate) fn push_late(&mut self, run: u32, frame: &FromCell<'_>, now: Instant) {
        let (frames, _) = self.late.get_or_insert_with(|| (Vec::new(), now + COMPANY));
        frame.encode(run, frames);
    }

    /// When the delayed frames have to go by themselves.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.late.as_ref().map(|(_, due)| *due)
    }

    /// Releases the delayed frames.
    pub(crate) fn hurry(&mut self) {
        if let Some((frames, _)) = self.late.take() {
            self.queue.extend_from_slice(&frames);
        }
    }

    /// Writes as much as the host takes.
    pub(crate) fn flush(&mut self) -> Result<(), HostGone> {
        if self.transfer.is_some() {
            self.splice()?;
            if self.transfer.is_some() {
                return Ok(());
            }
        }
        while let Some(rest) = self.queue.get(self.sent..).filter(|rest| !rest.is_empty()) {
            match rustix::io::write(&self.fd, rest) {
                Ok(count) => self.sent += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(()),
                Err(_) => return Err(HostGone),
            }
        }
        self.sent = 0;
        if self.queue.capacity() > ENOUGH {
            self.queue = Vec::new();
        } else {
            self.queue.clear();
        }
        Ok(())
    }

    /// Moves up to `most` bytes of a command's output to the host, as one frame. Call only while the queue is
    /// empty.
    pub(crate) fn relay(
        &mut self,
        run: u32,
        channel: Channel,
        source: &Rc<OwnedFd>,
        most: u64,
    ) -> Result<Moved, HostGone> {
        if !self.is_empty() || most == 0 {
            return Ok(Moved::Nothing);
        }
        let room = most.min(u64::from(MAX_DATA)) as usize;
        if self.can_splice {
            let there = waiting(source).min(room as u64) as usize;
            if there >= WORTH_SPLICING && self.begin_splice(channel.header(run, there as u32), source)? {
                return Ok(Moved::Bytes(there as u64));
            }
        }
        self.copy(run, channel, source, room)
    }

    fn copy(&mut self, run: u32, channel: Channel, source: &OwnedFd, room: usize) -> Result<Moved, HostGone> {
        if self.chunk.is_empty() {
            self.chunk = vec![0; HEADER_LEN + MAX_DATA as usize];
        }
        let Some(payload) = self.chunk.get_mut(HEADER_LEN..HEADER_LEN + room) else {
            return Ok(Moved::Nothing);
        };
        let count = match rustix::io::read(source, payload) {
            Ok(count @ 1..) => count,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(Moved::Nothing),
            // A terminal without processes reports an error.
            Ok(_) | Err(_) => return Ok(Moved::End),
        };
        let header = channel.header(run, count as u32);
        if let Some(head) = self.chunk.first_chunk_mut::<HEADER_LEN>() {
            *head = header.to_bytes();
        }
        self.write_chunk(header)?;
        Ok(Moved::Bytes(count as u64))
    }

    fn write_chunk(&mut self, header: Header) -> Result<(), HostGone> {
        self.hurry();
        self.flush()?;
        let mut rest = self.chunk.get(..header.frame_len()).unwrap_or_default();
        if !self.queue.is_empty() {
            self.queue.extend_from_slice(rest);
            return Ok(());
        }
        while !rest.is_empty() {
            match rustix::io::write(&self.fd, rest) {
                Ok(count) => rest = rest.get(count..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    self.queue.extend_from_slice(rest);
                    return Ok(());
                }
                Err(_) => return Err(HostGone),
            }
        }
        Ok(())
    }

    /// Writes the header of a frame whose payload follows from the pipe. Returns false if the host takes
    /// nothing now.
    fn begin_splice(&mut self, header: Header, source: &Rc<OwnedFd>) -> Result<bool, HostGone> {
        self.hurry();
        self.flush()?;
        if !self.queue.is_empty() {
            return Ok(false);
        }
        // A write this small to a pipe is all or nothing.
        match rustix::io::write(&self.fd, &header.to_bytes()) {
            Ok(HEADER_LEN) => {}
            Err(Errno::AGAIN | Errno::INTR) => return Ok(false),
            Ok(_) | Err(_) => return Err(HostGone),
        }
        self.transfer = Some(Transfer { source: Rc::clone(source), left: header.len as usize });
        self.splice()?;
        Ok(true)
    }

    fn splice(&mut self) -> Result<(), HostGone> {
        let Some(Transfer { source, mut left }) = self.transfer.take() else { return Ok(()) };
        while left > 0 {
            let flags = SpliceFlags::NONBLOCK | SpliceFlags::MOVE;
            match rustix::pipe::splice(&source, None, &self.fd, None, left, flags) {
                Ok(count @ 1..) => left = left.saturating_sub(count),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if waiting(&source) > 0 => {
                    self.transfer = Some(Transfer { source, left });
                    return Ok(());
                }
                Err(Errno::PIPE) => return Err(HostGone),
                Ok(_) | Err(_) => {
                    self.replace(&source, left);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Completes a promised frame when the pages can't be moved: with the bytes that are there, and with
    /// zeros for those a process of the run took back by reading its own output.
    fn replace(&mut self, source: &OwnedFd, left: usize) {
        self.can_splice = false;
        let mut rest = vec![0; left];
        let mut filled = 0;
        while let Some(room) = rest.get_mut(filled..).filter(|room| !room.is_empty()) {
            match rustix::io::read(source, room) {
                Ok(count @ 1..) => filled += count,
                Err(Errno::INTR) => {}
                Ok(_) | Err(_) => break,
            }
        }
        self.queue.splice(0..0, rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::pipe::{PipeFlags, pipe_with};

    /// An outbox, the host's end, and both ends of a command's output.
    fn ends() -> (Outbox, OwnedFd, Rc<OwnedFd>, OwnedFd) {
        let (host, ours) = pipe_with(PipeFlags::NONBLOCK).unwrap();
        let (source, command) = pipe_with(PipeFlags::NONBLOCK).unwrap();
        fcntl_setpipe_size(&command, PIPE_SIZE).unwrap();
        (Outbox::new(ours), host, Rc::new(source), command)
    }

    fn bytes(count: usize) -> Vec<u8> {
        (0..count).map(|number| (number % 253) as u8).collect()
    }

    /// What the host reads until the outbox is empty.
    fn received(outbox: &mut Outbox, host: &OwnedFd) -> Vec<u8> {
        let mut all = Vec::new();
        let mut room = vec![0; 50_000];
        loop {
            match rustix::io::read(host, &mut room) {
                Ok(count) => all.extend_from_slice(&room[..count]),
                Err(_) if outbox.is_empty() => return all,
                Err(_) => {}
            }
            outbox.flush().unwrap();
        }
    }

    #[test]
    fn an_unfinished_frame_is_sent_before_later_ones() {
        let (mut outbox, host, source, command) = ends();
        fcntl_setpipe_size(&outbox.fd, 64 * 1024).unwrap();
        let sent = bytes(200_000);
        assert_eq!(rustix::io::write(&command, &sent), Ok(sent.len()));
        let moved = outbox.relay(7, Channel::Stdout, &source, u64::MAX).unwrap();
        assert_eq!(moved, Moved::Bytes(200_000));
        assert!(outbox.transfer.is_some(), "the host's pipe is too small for it");
        outbox.push(0, &FromCell::Pong(1));
        let mut want = Header::stdout(7, 200_000).to_bytes().to_vec();
        want.extend(&sent);
        FromCell::Pong(1).encode(0, &mut want);
        assert!(received(&mut outbox, &host) == want);
    }

    #[test]
    fn bytes_that_were_taken_back_leave_the_frame_whole() {
        let (mut outbox, host, source, command) = ends();
        fcntl_setpipe_size(&outbox.fd, 64 * 1024).unwrap();
        rustix::io::write(&command, &bytes(200_000)).unwrap();
        outbox.relay(7, Channel::Stderr, &source, u64::MAX).unwrap();
        assert!(rustix::io::read(&*source, &mut vec![0; 200_000]).unwrap() > 0);
        outbox.push(0, &FromCell::Pong(1));
        let got = received(&mut outbox, &host);
        let (header, payload) = Header::split(&got).unwrap().unwrap();
        assert_eq!((header, payload.len()), (Header::stderr(7, 200_000), 200_000));
        let mut pong = Vec::new();
        FromCell::Pong(1).encode(0, &mut pong);
        assert!(got.ends_with(&pong));
    }

    #[test]
    fn a_deferred_frame_is_sent_before_the_next() {
        let now = Instant::now();
        let started = |pid| FromCell::Started { pid };
        let push = |outbox: &mut Outbox, _: &Rc<OwnedFd>| outbox.push(1, &FromCell::Pong(1));
        let relay = |outbox: &mut Outbox, source: &Rc<OwnedFd>| {
            outbox.relay(1, Channel::Stdout, source, 10).unwrap();
        };
        let hurry = |outbox: &mut Outbox, _: &Rc<OwnedFd>| outbox.hurry();
        let next: [fn(&mut Outbox, &Rc<OwnedFd>); 3] = [push, relay, hurry];
        for next in next {
            let (mut outbox, host, source, command) = ends();
            rustix::io::write(&command, b"x").unwrap();
            outbox.push_late(1, &started(7), now);
            outbox.push_late(1, &started(8), now + COMPANY);
            outbox.flush().unwrap();
            assert_eq!(outbox.due(), Some(now + COMPANY), "the first says when");
            assert!(rustix::io::read(&host, &mut [0; 1]).is_err(), "nothing goes before that");
            next(&mut outbox, &source);
            let mut want = Vec::new();
            started(7).encode(1, &mut want);
            started(8).encode(1, &mut want);
            assert!(received(&mut outbox, &host).starts_with(&want));
            assert_eq!(outbox.due(), None);
        }
    }

    #[test]
    fn no_more_than_allowed_is_moved() {
        let (mut outbox, host, source, command) = ends();
        rustix::io::write(&command, &bytes(200_000)).unwrap();
        for (allowed, moved) in [(0, Moved::Nothing), (5, Moved::Bytes(5)), (100_000, Moved::Bytes(100_000))]
        {
            assert_eq!(outbox.relay(1, Channel::Stdout, &source, allowed).unwrap(), moved);
            let framed = if allowed == 0 { 0 } else { HEADER_LEN + allowed as usize };
            assert_eq!(received(&mut outbox, &host).len(), framed);
        }
    }

    #[test]
    fn a_host_that_left_is_noticed() {
        let (mut outbox, host, source, command) = ends();
        rustix::io::write(&command, b"x").unwrap();
        drop(host);
        assert!(outbox.relay(1, Channel::Stdout, &source, 10).is_err());
    }
}
