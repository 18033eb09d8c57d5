//! The event loop: waits for events and dispatches them.

mod frames;
mod killing;
mod processes;
mod rehearsal;

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::{Duration, Instant};

use exec_wire::{Fatal, FromCell, Lifetime, Note};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit};

use super::clock::sooner;
use super::inbox::Inbox;
use super::input::Input;
use super::outbox::{HostGone, Moved, Outbox};
use super::run::{Phase, Run, Wait, discard};
use super::runner::{Runner, State};
use super::spawn::{Process, Stock};
use super::stream::Channel;
use super::{Config, HostStream, KillScope, stdio};
use crate::cgroup::{Cgroup, Counters};
use crate::fence::{self, Fence};
use crate::sys::{self, Pid};

/// Streams of finished commands that are still drained so that background processes can write.
const MOST_SINKS: usize = 512;

/// How long to repeat a kill before the rest count as survivors.
const KILL_PATIENCE: Duration = Duration::from_secs(5);

/// Time between two attempts at a kill.
const KILL_TICK: Duration = Duration::from_millis(2);

/// Why the loop ends.
enum Quit {
    HostGone,
    Fatal(String),
}

impl From<HostGone> for Quit {
    fn from(_: HostGone) -> Self {
        Self::HostGone
    }
}

/// The owner of a descriptor in the poll set.
#[derive(Debug, Clone, Copy)]
enum Token {
    Host,
    Lifeline,
    Outbox,
    Children,
    Report(u32),
    Runner(u32),
    Input(u32),
    Stream(u32, Channel),
    Left(Pid),
    Sink(usize),
}

/// Never returns: exits when the host goes away or violates the protocol.
pub(crate) fn serve(config: Config) -> ! {
    match Supervisor::new(config) {
        Ok((mut inbox, mut supervisor)) => {
            let quit = supervisor.run(&mut inbox);
            supervisor.quit(quit)
        }
        Err(errno) => {
            let mut frame = Vec::new();
            FromCell::Fatal(Fatal::Other(format!("the supervisor can't be set up: {errno}")))
                .encode(0, &mut frame);
            let _ = rustix::io::write(rustix::stdio::stdout(), &frame);
            sys::exit_now(errno.raw_os_error().clamp(1, 125))
        }
    }
}

struct Supervisor {
    scope: KillScope,
    cgroup: Option<Cgroup>,
    notes: Vec<Note>,
    home: Option<Vec<u8>>,
    fence: Fence,
    open_files: Rlimit,
    outbox: Outbox,
    /// The standard streams when frames use the FIFO channel: their end still means that the host is gone.
    lifeline: Option<HostStream>,
    children: OwnedFd,
    greeted: bool,
    /// When to rehearse the start of a command; `None` once that is done or useless.
    rehearsal: Option<Instant>,
    /// Pipes for the next command.
    stock: Stock,
    /// A command with the cell to itself was started.
    served: bool,
    runs: BTreeMap<u32, Run>,
    /// Runners whose command has ended while its background processes live on.
    left: Vec<Runner>,
    sinks: Vec<Rc<OwnedFd>>,
    /// Set when a command killed its own runner: the runner's descendants are now ours, and are killed until
    /// then.
    hunting: Option<Instant>,
    childless: bool,
    next_kill: Instant,
    turns: usize,
}

impl Supervisor {
    fn new(config: Config) -> Result<(Inbox, Self), Errno> {
        let Config { fifo_channel, landlock, cgroup, notes, kill_scope, home } = config;
        sys::default_signals();
        sys::block_signals();
        let standard = stdio::take()?;
        let (stream, lifeline) = match fifo_channel {
            Some(fifo_channel) => (fifo_channel, Some(standard)),
            None => (standard, None),
        };
        let children = sys::child_events()?;
        if kill_scope == KillScope::Descendants {
            rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        }
        let open_files = raise_open_files();
        let fence = fence::lock_down(landlock.as_ref());
        let supervisor = Self {
            scope: kill_scope,
            cgroup,
            notes,
            home,
            fence,
            open_files,
            outbox: Outbox::new(stream.output),
            lifeline,
            children,
            greeted: false,
            rehearsal: None,
            stock: Stock::default(),
            served: false,
            runs: BTreeMap::new(),
            left: Vec::new(),
            sinks: Vec::new(),
            hunting: None,
            childless: false,
            next_kill: Instant::now(),
            turns: 0,
        };
        Ok((Inbox::new(stream.input), supervisor))
    }

    fn run(&mut self, inbox: &mut Inbox) -> Quit {
        loop {
            if let Err(quit) = self.turn(inbox) {
                return quit;
            }
        }
    }

    fn turn(&mut self, inbox: &mut Inbox) -> Result<(), Quit> {
        let before = Instant::now();
        self.advance(before);
        if self.outbox.due().is_some_and(|due| due <= before) {
            self.outbox.hurry();
        }
        self.outbox.flush()?;
        let listened_to: Vec<u32> =
            self.runs.values().filter(|run| run.is_listened_to(&self.outbox)).map(|run| run.id).collect();
        let events = self.wait(inbox, before);
        let now = Instant::now();
        for id in listened_to {
            if let Some(run) = self.runs.get_mut(&id) {
                run.count_silence(now - before);
            }
        }
        let (mut streams, others): (Vec<_>, Vec<_>) =
            events.into_iter().partition(|(token, _)| matches!(token, Token::Stream(..)));
        // The first run to fill the host's pipe makes the others wait, so each is first in turn.
        self.turns = self.turns.wrapping_add(1);
        let first = self.turns % streams.len().max(1);
        streams.rotate_left(first);
        for (token, flags) in others.into_iter().chain(streams) {
            self.handle(token, flags, inbox, now)?;
        }
        Ok(())
    }

    /// Waits for the next event or deadline.
    fn wait(&self, inbox: &Inbox, now: Instant) -> Vec<(Token, PollFlags)> {
        let (mut fds, tokens) = self.poll_set(inbox);
        let timeout = self.deadline(now).map(|deadline| timespec(deadline.saturating_duration_since(now)));
        if rustix::event::poll(&mut fds, timeout.as_ref()).is_err() {
            return Vec::new();
        }
        tokens
            .into_iter()
            .zip(&fds)
            .map(|(token, fd)| (token, fd.revents()))
            .filter(|(_, flags)| !flags.is_empty())
            .collect()
    }

    fn poll_set<'a>(&'a self, inbox: &'a Inbox) -> (Vec<PollFd<'a>>, Vec<Token>) {
        let mut fds = Vec::with_capacity(4 + 4 * self.runs.len());
        let mut tokens = Vec::with_capacity(fds.capacity());
        let mut add = |token, fd: PollFd<'a>| {
            tokens.push(token);
            fds.push(fd);
        };
        // A host that does not read its answers gets no more, but its end is always noticed.
        let more = if self.outbox.is_full() { PollFlags::empty() } else { PollFlags::IN };
        let space = if self.outbox.is_empty() { PollFlags::empty() } else { PollFlags::OUT };
        add(Token::Host, PollFd::from_borrowed_fd(inbox.fd(), more | PollFlags::RDHUP));
        add(Token::Outbox, PollFd::from_borrowed_fd(self.outbox.fd(), space));
        if let Some(lifeline) = &self.lifeline {
            add(Token::Lifeline, PollFd::new(&lifeline.input, PollFlags::IN | PollFlags::RDHUP));
        }
        add(Token::Children, PollFd::new(&self.children, PollFlags::IN));
        for run in self.runs.values() {
            if let Some(report) = &run.report {
                add(Token::Report(run.id), PollFd::from_borrowed_fd(report.fd(), PollFlags::IN));
            }
            if let Process::Runner(runner) = &run.process
                && runner.state != State::Gone
            {
                add(Token::Runner(run.id), PollFd::from_borrowed_fd(runner.fd(), PollFlags::IN));
            }
            if let Some(fd) = run.input().and_then(Input::waits_on) {
                add(Token::Input(run.id), PollFd::from_borrowed_fd(fd, PollFlags::OUT));
            }
            for stream in &run.streams {
                let flags = match run.wait_for(stream, &self.outbox) {
                    Wait::Nothing => continue,
                    Wait::End => PollFlags::empty(),
                    Wait::Bytes => PollFlags::IN,
                };
                add(Token::Stream(run.id, stream.channel), PollFd::new(&*stream.source, flags));
            }
        }
        for runner in &self.left {
            add(Token::Left(runner.pid), PollFd::from_borrowed_fd(runner.fd(), PollFlags::IN));
        }
        for (index, sink) in self.sinks.iter().enumerate() {
            add(Token::Sink(index), PollFd::new(&**sink, PollFlags::IN));
        }
        (fds, tokens)
    }

    fn deadline(&self, now: Instant) -> Option<Instant> {
        let runs = self
            .runs
            .values()
            .fold(None, |soonest, run| sooner(soonest, run.deadline(now, run.is_listened_to(&self.outbox))));
        let kill = self.is_killing().then_some(self.next_kill);
        sooner(sooner(runs, kill), sooner(self.rehearsal, self.outbox.due()))
    }

    fn handle(
        &mut self,
        token: Token,
        flags: PollFlags,
        inbox: &mut Inbox,
        now: Instant,
    ) -> Result<(), Quit> {
        match token {
            Token::Host => self.on_host(flags, inbox, now)?,
            // The host never writes here: any event is its end.
            Token::Lifeline => return Err(Quit::HostGone),
            Token::Outbox => {
                if flags.intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL) {
                    return Err(Quit::HostGone);
                }
                self.outbox.flush()?;
            }
            Token::Children => {
                self.clear_child_events();
                self.reap(now);
            }
            Token::Report(id) => self.on_report(id, now),
            Token::Runner(id) => self.on_news(id, now),
            Token::Input(id) => {
                if let Some(run) = self.runs.get_mut(&id) {
                    run.pump_input(&mut self.outbox);
                }
            }
            Token::Stream(id, channel) => {
                if let Some(run) = self.runs.get_mut(&id) {
                    run.pump(channel, now, &mut self.outbox)?;
                }
            }
            Token::Left(pid) => self.on_left(pid, now),
            Token::Sink(index) => self.on_sink(index),
        }
        Ok(())
    }

    fn on_sink(&mut self, index: usize) {
        let ended = self.sinks.get(index).is_some_and(|sink| discard(sink) == Moved::End);
        // Closing one shifts the later indices of this turn's events; those are handled next turn.
        if ended {
            self.sinks.swap_remove(index);
        }
    }

    /// Advances every run as far as it can go without waiting.
    fn advance(&mut self, now: Instant) {
        self.rehearse(now);
        let ids: Vec<u32> = self.runs.keys().copied().collect();
        for id in ids {
            if let Some(run) = self.runs.get_mut(&id)
                && run.check_limits(now, &self.outbox)
            {
                run.phase = Phase::Killing { give_up: now + KILL_PATIENCE };
                self.next_kill = now;
            }
        }
        if self.is_killing() && self.next_kill <= now {
            self.kill(now);
            self.next_kill = Instant::now() + KILL_TICK;
        }
        let over: Vec<u32> = self
            .runs
            .values()
            .filter(|run| run.phase == Phase::Delivering && run.is_delivered())
            .map(|run| run.id)
            .collect();
        for id in over {
            if let Some(run) = self.runs.remove(&id) {
                self.close(run);
            }
        }
    }

    /// Sends the account of a run and takes over its leftovers.
    fn close(&mut self, mut run: Run) {
        let usage = match run.lifetime {
            Lifetime::Session => run.usage.unwrap_or_default(),
            Lifetime::Cell => sys::children_usage().since(run.baseline.usage),
        };
        let closed = run.account(usage, self.counters());
        self.outbox.push(run.id, &FromCell::Closed(closed));
        if run.lifetime == Lifetime::Session {
            self.sinks.extend(run.leftover_streams());
            let excess = self.sinks.len().saturating_sub(MOST_SINKS);
            self.sinks.drain(..excess);
        }
        self.leave(run);
    }

    /// Keeps a runner for as long as it has descendants.
    fn leave(&mut self, run: Run) {
        if let Process::Runner(runner) = run.process
            && runner.state == State::Busy
        {
            self.left.push(runner);
        }
    }

    fn counters(&self) -> Counters {
        self.cgroup.as_ref().map(Cgroup::counters).unwrap_or_default()
    }
}

/// Raises the limit on open files to the maximum; returns the old limit, which commands get back.
fn raise_open_files() -> Rlimit {
    let before = rustix::process::getrlimit(Resource::Nofile);
    let raised = Rlimit { current: before.maximum, maximum: before.maximum };
    let _ = rustix::process::setrlimit(Resource::Nofile, raised);
    before
}

fn timespec(time: Duration) -> Timespec {
    Timespec { tv_sec: time.as_secs().min(86_400) as i64, tv_nsec: i64::from(time.subsec_nanos()) }
}
