//! The output of a run: from its streams to the host, within credit and limits.

use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::{Duration, Instant};

use exec_wire::{EndReason, MIN_CREDIT, credit_cost};

use super::{Phase, Run, Wait};
use crate::cell::outbox::{HostGone, Moved, Outbox};
use crate::cell::stream::{Channel, Stream, waiting};

impl Run {
    /// Whether silence counts against the idle limit: only while the host takes output, so a slow host never
    /// looks like a silent command.
    pub(crate) fn is_listened_to(&self, outbox: &Outbox) -> bool {
        self.has_begun() && self.allowance() > 0 && outbox.is_empty() && !self.streams.is_empty()
    }

    pub(crate) fn count_silence(&mut self, time: Duration) {
        self.silent = self.silent.saturating_add(time);
    }

    /// How much may be sent now. Once nothing can write any more, the rest in the pipes is bounded by their
    /// size and goes without credit: a host that does not read still learns how the run ended.
    fn allowance(&self) -> u64 {
        match self.phase {
            Phase::Delivering => u64::MAX,
            _ if self.credit < u64::from(MIN_CREDIT) => 0,
            _ => self.credit,
        }
    }

    /// The event to wait for on a stream now.
    pub(crate) fn wait_for(&self, stream: &Stream, outbox: &Outbox) -> Wait {
        if !self.has_begun() || outbox.promised(&stream.source) > 0 {
            Wait::Nothing
        } else if self.discarding || self.output_left == 0 {
            Wait::Bytes
        } else if stream.room(self.allowance()) > 0 {
            if outbox.is_empty() { Wait::Bytes } else { Wait::Nothing }
        } else if waiting(&stream.source) == 0 {
            // Otherwise a command's end would go unseen until the host gives credit it has no use for.
            Wait::End
        } else {
            Wait::Nothing
        }
    }

    /// Moves the output that one stream has.
    pub(crate) fn pump(
        &mut self,
        channel: Channel,
        now: Instant,
        outbox: &mut Outbox,
    ) -> Result<(), HostGone> {
        let Some(index) = self.streams.iter().position(|stream| stream.channel == channel) else {
            return Ok(());
        };
        let allowance = self.allowance();
        let Some(stream) = self.streams.get_mut(index) else { return Ok(()) };
        if outbox.promised(&stream.source) > 0 {
            return Ok(());
        }
        let moved = if self.discarding {
            discard(&stream.source)
        } else if self.output_left == 0 || stream.room(allowance) == 0 {
            self.probe(index, now);
            return Ok(());
        } else if !outbox.is_empty() {
            return Ok(());
        } else {
            let most = stream.room(allowance.min(self.output_left));
            outbox.relay(self.id, channel, &stream.source, most)?
        };
        match moved {
            Moved::Bytes(_) if self.discarding => {}
            Moved::Bytes(count) => self.count(index, count),
            Moved::End => self.close(index),
            // Promised bytes are missing: a process of the run read its own output.
            Moved::Nothing if stream.is_bounded() => self.close(index),
            Moved::Nothing => {}
        }
        Ok(())
    }

    /// Checks a stream that may not be read for its end and for the limit.
    fn probe(&mut self, index: usize, now: Instant) {
        let Some(stream) = self.streams.get(index) else { return };
        if waiting(&stream.source) > 0 {
            if self.output_left == 0 {
                self.pass_limit(now);
            }
        } else if stream.has_ended() {
            self.close(index);
        }
    }

    fn pass_limit(&mut self, now: Instant) {
        self.discarding = true;
        if !self.exited {
            self.end(EndReason::OutputLimit, self.limits.grace_ms, now);
        }
    }

    fn count(&mut self, index: usize, bytes: u64) {
        self.silent = Duration::ZERO;
        self.credit = self.credit.saturating_sub(u64::from(credit_cost(bytes as u32)));
        if self.limits.output_bytes.is_some() {
            self.output_left = self.output_left.saturating_sub(bytes);
        }
        let Some(stream) = self.streams.get_mut(index) else { return };
        stream.count(bytes);
        match stream.channel {
            Channel::Stdout => self.stdout_bytes += bytes,
            Channel::Stderr => self.stderr_bytes += bytes,
        }
    }

    fn close(&mut self, index: usize) {
        if index < self.streams.len() {
            self.streams.remove(index);
        }
    }

    /// Delivers only what has been written by now.
    pub(crate) fn deliver_what_is_there(&mut self, outbox: &Outbox) {
        for stream in &mut self.streams {
            stream.finish_with_what_is_there(self.tty.is_some(), outbox.promised(&stream.source));
        }
        self.phase = Phase::Delivering;
    }

    /// Delivers every stream to its end: all writers are dead.
    pub(crate) fn deliver_to_the_end(&mut self) {
        self.phase = Phase::Delivering;
    }

    /// Whether all output due has been delivered.
    pub(crate) fn is_delivered(&self) -> bool {
        self.discarding || self.streams.iter().all(Stream::is_spent)
    }

    /// Takes the streams still open after the run: a session's background processes write to them.
    pub(crate) fn leftover_streams(&mut self) -> Vec<Rc<OwnedFd>> {
        if self.tty.is_some() {
            return Vec::new();
        }
        self.streams.drain(..).map(|stream| stream.source).collect()
    }
}

/// Reads and discards, so that the writer does not block on a full pipe.
pub(crate) fn discard(source: &OwnedFd) -> Moved {
    let mut scratch = [0; 16 * 1024];
    match rustix::io::read(source, &mut scratch) {
        Ok(count @ 1..) => Moved::Bytes(count as u64),
        Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Moved::Nothing,
        Ok(_) | Err(_) => Moved::End,
    }
}
