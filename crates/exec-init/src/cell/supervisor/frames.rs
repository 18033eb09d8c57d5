//! Requests from the host.

use std::time::Instant;

use exec_wire::{EndReason, Failed, FromCell, Header, Lifetime, PROTOCOL_VERSION, Stage, Start, ToCell};
use rustix::event::PollFlags;
use rustix::io::Errno;

use super::{Quit, Supervisor};
use crate::cell::facts;
use crate::cell::inbox::{Arrival, Inbox};
use crate::cell::run::{Baseline, Run};
use crate::cell::spawn;
use crate::cgroup::Counters;
use crate::sys;

/// The most concurrent runs in a session.
const MOST_RUNS: usize = 256;

impl Supervisor {
    pub(super) fn on_host(&mut self, flags: PollFlags, inbox: &mut Inbox, now: Instant) -> Result<(), Quit> {
        if !flags.contains(PollFlags::IN) {
            return Err(Quit::HostGone);
        }
        match inbox.fill() {
            Arrival::End => return Err(Quit::HostGone),
            Arrival::Nothing => return Ok(()),
            Arrival::Bytes => {}
        }
        let fatal = |error: exec_wire::WireError| Quit::Fatal(error.to_string());
        while let Some((header, payload)) = inbox.next().map_err(fatal)? {
            let frame = ToCell::decode(&header, payload).map_err(fatal)?;
            self.on_frame(header, frame, now)?;
        }
        Ok(())
    }

    pub(super) fn on_frame(&mut self, header: Header, frame: ToCell<'_>, now: Instant) -> Result<(), Quit> {
        if let ToCell::Hello { version } = frame {
            return self.on_hello(version, now);
        }
        if !self.greeted {
            return Err(Quit::Fatal("the first frame must be a greeting".to_owned()));
        }
        let id = header.run;
        match frame {
            ToCell::Hello { .. } | ToCell::Jail(_) | ToCell::Container(_) => {
                return Err(Quit::Fatal("the cell is ready already".to_owned()));
            }
            ToCell::Start(start) => return self.on_start(id, *start, now),
            ToCell::Ping(nonce) => self.outbox.push(id, &FromCell::Pong(nonce)),
            other => {
                // These frames were sent before the host learned that the run is over.
                let Some(run) = self.runs.get_mut(&id) else { return Ok(()) };
                match other {
                    ToCell::Stdin(bytes) => {
                        run.take_input(bytes, &mut self.outbox)
                            .map_err(|_| Quit::Fatal(format!("more input than credit for run {id}")))?;
                    }
                    ToCell::StdinEof => run.end_input(),
                    ToCell::Credit(bytes) => run.grant(bytes),
                    ToCell::Signal(signal @ 1..=64) => run.forward(signal),
                    ToCell::Signal(signal) => return Err(Quit::Fatal(format!("no such signal: {signal}"))),
                    ToCell::Resize(size) => run.resize(size),
                    ToCell::Stop { grace_ms } => run.end(EndReason::Stopped, grace_ms, now),
                    ToCell::Hello { .. }
                    | ToCell::Jail(_)
                    | ToCell::Container(_)
                    | ToCell::Start(_)
                    | ToCell::Ping(_) => {}
                }
            }
        }
        Ok(())
    }

    pub(super) fn on_hello(&mut self, version: u16, now: Instant) -> Result<(), Quit> {
        if version != PROTOCOL_VERSION {
            return Err(Quit::Fatal(format!(
                "protocol version {version} of the host is not {PROTOCOL_VERSION}, the cell's"
            )));
        }
        if std::mem::replace(&mut self.greeted, true) {
            return Err(Quit::Fatal("a second greeting".to_owned()));
        }
        let facts = facts::gather(self.scope, self.cgroup.as_ref(), &self.fence, &self.notes);
        self.outbox.push(0, &FromCell::Ready(Box::new(facts)));
        self.plan_rehearsal(now);
        Ok(())
    }
    pub(super) fn on_start(&mut self, id: u32, mut start: Start, now: Instant) -> Result<(), Quit> {
        if id == 0 || self.runs.contains_key(&id) {
            return Err(Quit::Fatal(format!("run {id} can't be started: the number is taken")));
        }
        self.rehearsal = None;
        if let Some(home) = &self.home {
            settle_in(home, &mut start.env);
        }
        let (lifetime, limits) = (start.lifetime, start.limits);
        let counters = match lifetime {
            // The cell belongs to the run alone, and so does every count.
            Lifetime::Cell => Counters::default(),
            Lifetime::Session => self.counters(),
        };
        let baseline = Baseline { usage: sys::children_usage(), counters };
        let spawned = self
            .admit(lifetime)
            .and_then(|()| spawn::spawn(start, &self.fence, self.open_files, &mut self.stock));
        match spawned {
            Ok(spawned) => {
                self.childless = false;
                self.runs.insert(id, Run::new(id, lifetime, limits, spawned, baseline, now));
            }
            Err(failed) => self.outbox.push(id, &FromCell::Failed(failed)),
        }
        Ok(())
    }

    pub(super) fn admit(&self, lifetime: Lifetime) -> Result<(), Failed> {
        let refused = |errno: Errno| Err(Failed { stage: Stage::Refused, errno: errno.raw_os_error() });
        if self.served {
            return refused(Errno::SHUTDOWN);
        }
        let alone = self.runs.is_empty() && self.left.is_empty();
        let cell_taken = self.runs.values().any(|run| run.lifetime == Lifetime::Cell);
        if cell_taken || (lifetime == Lifetime::Cell && !alone) || self.runs.len() >= MOST_RUNS {
            return refused(Errno::BUSY);
        }
        Ok(())
    }
}

/// Sets a directory as the home and temporary directory of a command.
fn settle_in(home: &[u8], env: &mut Vec<Vec<u8>>) {
    for name in [b"HOME=".as_slice(), b"TMPDIR="] {
        env.retain(|variable| !variable.starts_with(name));
        env.push([name, home].concat());
    }
}
