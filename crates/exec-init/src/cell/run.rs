//! One command from its start to its final account.
//!
//! A run knows its own streams, limits and phase. It knows neither how processes are killed - the supervisor
//! does - nor any other run.

mod output;

pub(crate) use output::discard;

use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::{Duration, Instant};

use exec_wire::{Closed, EndReason, Exited, FromCell, Lifetime, Limits, Status};

use super::clock::{after, is_due, sooner};
use super::input::{Input, Kind, Overrun};
use super::outbox::Outbox;
use super::report::{Outcome, Report};
use super::spawn::{Process, Spawned};
use super::stream::{Stream, waiting};
use super::tty;
use crate::cgroup::Counters;
use crate::sys::{self, Pid, Rusage};

/// The most survivors listed by name, so that the frame stays bounded.
const MOST_SURVIVORS: usize = 1000;

/// The phase a run is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The command may be alive.
    Running,
    /// The command ended; processes it left behind may still write until then.
    Draining { until: Option<Instant> },
    /// Every process of the run is being killed.
    Killing { give_up: Instant },
    /// Output written so far is still being delivered; nothing writes any more, or later output no longer
    /// counts.
    Delivering,
}

/// Why and when a run is ended from outside.
#[derive(Debug, Clone, Copy)]
struct Ending {
    reason: EndReason,
    kill_at: Option<Instant>,
}

/// Where the command's input comes from.
enum Stdin {
    /// Nowhere.
    Never,
    /// The host.
    Open(Input),
    /// The host may not know yet that input is over: bytes that still arrive are ignored.
    Over,
}

/// The kernel's counters when the run began.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Baseline {
    pub(crate) usage: Rusage,
    pub(crate) counters: Counters,
}

pub(crate) struct Run {
    pub(crate) id: u32,
    pub(crate) lifetime: Lifetime,
    pub(crate) phase: Phase,
    pub(crate) process: Process,
    pub(crate) report: Option<Report>,
    pub(crate) streams: Vec<Stream>,
    pub(crate) baseline: Baseline,
    /// Resources used, as the runner reported them.
    pub(crate) usage: Option<Rusage>,
    pub(crate) survivors: Vec<u32>,
    /// The command's process id, once known.
    command: Option<Pid>,
    /// Whether the command's end was reported.
    exited: bool,
    limits: Limits,
    wall: Option<Instant>,
    ending: Option<Ending>,
    credit: u64,
    output_left: u64,
    /// The output limit was exceeded: further output is thrown away.
    discarding: bool,
    silent: Duration,
    stdin: Stdin,
    tty: Option<Rc<OwnedFd>>,
    stdout_bytes: u64,
    stderr_bytes: u64,
}

/// The result of starting a command.
pub(crate) enum Begun {
    NotYet,
    Running,
    Failed,
}

/// The event to wait for on a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    Nothing,
    /// Only the end of the stream.
    End,
    Bytes,
}

impl Run {
    pub(crate) fn new(
        id: u32,
        lifetime: Lifetime,
        limits: Limits,
        spawned: Spawned,
        baseline: Baseline,
        now: Instant,
    ) -> Self {
        let Spawned { process, report, ends } = spawned;
        let kind = if ends.tty.is_some() { Kind::Tty } else { Kind::Pipe };
        Self {
            id,
            lifetime,
            phase: Phase::Running,
            process,
            report: Some(report),
            streams: ends.streams,
            baseline,
            usage: None,
            survivors: Vec::new(),
            command: None,
            exited: false,
            limits,
            wall: limits.wall_ms.and_then(|millis| after(now, millis)),
            ending: None,
            credit: 0,
            output_left: limits.output_bytes.unwrap_or(u64::MAX),
            discarding: false,
            silent: Duration::ZERO,
            stdin: ends.stdin.map_or(Stdin::Never, |fd| Stdin::Open(Input::new(fd, kind))),
            tty: ends.tty,
            stdout_bytes: 0,
            stderr_bytes: 0,
        }
    }

    /// Checks whether the process has become the command. A host with input to send is woken for the start;
    /// without input the start is reported along with the next frame.
    pub(crate) fn begin(&mut self, now: Instant, outbox: &mut Outbox) -> Begun {
        let Some(report) = &mut self.report else { return Begun::Running };
        match report.read() {
            Outcome::Pending => Begun::NotYet,
            Outcome::Failed(failed) => {
                self.report = None;
                outbox.push(self.id, &FromCell::Failed(failed));
                Begun::Failed
            }
            Outcome::Running(pid) => {
                self.report = None;
                self.command = Some(pid);
                outbox.push_late(self.id, &FromCell::Started { pid: pid.unsigned_abs() }, now);
                if let Stdin::Open(input) = &mut self.stdin {
                    outbox.push(self.id, &FromCell::StdinCredit(input.open()));
                }
                Begun::Running
            }
        }
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.report.is_none()
    }

    /// The command itself has ended.
    pub(crate) fn exit(&mut self, status: Status, now: Instant, outbox: &mut Outbox) {
        if !self.has_begun() || std::mem::replace(&mut self.exited, true) {
            return;
        }
        self.stdin = Stdin::Over;
        if self.ending.is_none() && self.wrote_too_much(outbox) {
            self.ending = Some(Ending { reason: EndReason::OutputLimit, kill_at: Some(now) });
        }
        let reason = self.ending.map_or(EndReason::Own, |ending| ending.reason);
        // Sent with the account, if nothing is left to wait for.
        outbox.push_late(self.id, &FromCell::Exited(Exited { reason, status }), now);
        if self.phase == Phase::Running {
            self.phase = Phase::Draining { until: after(now, self.limits.drain_ms) };
        }
    }

    pub(crate) fn has_exited(&self) -> bool {
        self.exited
    }

    /// Whether the pipes hold more at the command's end than it may still write.
    fn wrote_too_much(&self, outbox: &Outbox) -> bool {
        let unread =
            |stream: &Stream| waiting(&stream.source).saturating_sub(outbox.promised(&stream.source));
        let unread: u64 = self.streams.iter().map(unread).sum();
        unread > self.output_left
    }

    /// Ends the run for a reason, with SIGTERM first if there is a grace period. The first reason is kept.
    pub(crate) fn end(&mut self, reason: EndReason, grace_ms: u64, now: Instant) {
        let kill_at = after(now, grace_ms);
        if self.exited {
            // The command is gone; the processes it left behind get at most this long.
            if let Phase::Draining { until } = &mut self.phase {
                *until = sooner(*until, kill_at);
                self.ending.get_or_insert(Ending { reason, kill_at });
            }
            return;
        }
        if let Some(ending) = &mut self.ending {
            ending.kill_at = sooner(ending.kill_at, kill_at);
            return;
        }
        self.ending = Some(Ending { reason, kill_at });
        if grace_ms > 0 {
            self.signal(libc::SIGTERM);
            if self.tty.is_some() {
                self.signal(libc::SIGHUP);
            }
            self.signal(libc::SIGCONT);
        }
    }

    /// Signals the command's process group, and the foreground group of its terminal.
    pub(crate) fn signal(&self, signal: i32) {
        if self.exited {
            return;
        }
        if let (Some(tty), Some(command)) = (&self.tty, self.command) {
            tty::signal_foreground(tty, command, signal);
        }
        match &self.process {
            Process::Runner(runner) => runner.signal(signal),
            // Until the process has its own group, only the process can be signalled.
            Process::Command(pid) => {
                let _ = sys::kill(-pid, signal).or_else(|_| sys::kill(*pid, signal));
            }
        }
    }

    /// Sends a signal the host asked for: to the terminal's foreground group, or else to the command's group.
    pub(crate) fn forward(&self, signal: i32) {
        let in_front = match (&self.tty, self.command) {
            (Some(tty), Some(command)) if !self.exited => tty::signal_foreground(tty, command, signal),
            _ => false,
        };
        if !in_front {
            self.signal(signal);
        }
    }

    pub(crate) fn resize(&self, size: exec_wire::WindowSize) {
        if let Some(tty) = &self.tty {
            let _ = tty::resize(tty, size);
        }
    }

    pub(crate) fn grant(&mut self, credit: u32) {
        self.credit = self.credit.saturating_add(u64::from(credit));
    }

    pub(crate) fn take_input(&mut self, bytes: &[u8], outbox: &mut Outbox) -> Result<(), Overrun> {
        match &mut self.stdin {
            Stdin::Open(input) => input.accept(bytes)?,
            Stdin::Over => {}
            Stdin::Never => return Err(Overrun),
        }
        self.repay(outbox);
        Ok(())
    }

    pub(crate) fn end_input(&mut self) {
        if let Stdin::Open(input) = &mut self.stdin {
            input.finish();
        }
    }

    pub(crate) fn input(&self) -> Option<&Input> {
        match &self.stdin {
            Stdin::Open(input) => Some(input),
            Stdin::Never | Stdin::Over => None,
        }
    }

    pub(crate) fn pump_input(&mut self, outbox: &mut Outbox) {
        if let Stdin::Open(input) = &mut self.stdin {
            input.pump();
        }
        self.repay(outbox);
    }

    fn repay(&mut self, outbox: &mut Outbox) {
        if let Stdin::Open(input) = &mut self.stdin
            && let Some(credit) = input.repay()
        {
            outbox.push(self.id, &FromCell::StdinCredit(credit));
        }
    }

    /// The next moment at which something is due without an event.
    pub(crate) fn deadline(&self, now: Instant, listened_to: bool) -> Option<Instant> {
        match self.phase {
            Phase::Running => {
                let own = self.ending.map_or(self.wall, |ending| ending.kill_at);
                let silence = match self.limits.idle_ms {
                    Some(limit) if listened_to && self.ending.is_none() => {
                        now.checked_add(Duration::from_millis(limit).saturating_sub(self.silent))
                    }
                    _ => None,
                };
                sooner(own, silence)
            }
            Phase::Draining { until } => until,
            Phase::Killing { give_up } => Some(give_up),
            Phase::Delivering => None,
        }
    }

    /// Acts on limits that have been reached. Returns true when every process of the run is to be killed now.
    pub(crate) fn check_limits(&mut self, now: Instant, outbox: &Outbox) -> bool {
        match self.phase {
            Phase::Running => {
                if self.ending.is_none() {
                    if is_due(self.wall, now) {
                        self.end(EndReason::WallTime, self.limits.grace_ms, now);
                    } else if self
                        .limits
                        .idle_ms
                        .is_some_and(|limit| self.silent >= Duration::from_millis(limit))
                    {
                        self.end(EndReason::IdleTime, self.limits.grace_ms, now);
                    }
                }
                self.ending.is_some_and(|ending| is_due(ending.kill_at, now))
            }
            Phase::Draining { until } => {
                let over = is_due(until, now) || self.streams.is_empty() || self.discarding;
                over && self.finish_draining(outbox)
            }
            _ => false,
        }
    }

    /// Returns whether leftover processes die. Only those of a session whose command ended by itself live on.
    fn finish_draining(&mut self, outbox: &Outbox) -> bool {
        if self.lifetime == Lifetime::Session && self.ending.is_none() {
            self.deliver_what_is_there(outbox);
            return false;
        }
        true
    }

    pub(crate) fn account(&self, usage: Rusage, counters: Counters) -> Closed {
        Closed {
            user_us: usage.user_us,
            system_us: usage.system_us,
            peak_memory: counters.peak_memory.unwrap_or(usage.peak_memory),
            oom_kills: counters.oom_kills.saturating_sub(self.baseline.counters.oom_kills),
            pids_denied: counters.pids_denied.saturating_sub(self.baseline.counters.pids_denied),
            stdout_bytes: self.stdout_bytes,
            stderr_bytes: self.stderr_bytes,
            survivors: self.survivors.iter().copied().take(MOST_SURVIVORS).collect(),
        }
    }
}
