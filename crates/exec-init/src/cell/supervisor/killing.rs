//! Killing: the leftovers of a run, escapees from a runner, and in the end everything.

use std::time::{Duration, Instant};

use exec_wire::{Failed, Fatal, FromCell, Lifetime, Stage, Status};
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;

use super::{KILL_PATIENCE, KILL_TICK, Quit, Supervisor, timespec};
use crate::cell::kill::{self, own_pid};
use crate::cell::run::{Phase, Run};
use crate::cell::runner::State;
use crate::cell::spawn::Process;
use crate::cell::sweep;
use crate::sys;

/// How long a host that violated the protocol has to read the reason.
const LAST_WORDS: Duration = Duration::from_secs(1);

impl Supervisor {
    pub(super) fn is_killing(&self) -> bool {
        self.hunting.is_some() || self.runs.values().any(|run| matches!(run.phase, Phase::Killing { .. }))
    }

    /// One attempt to kill everything that has to die.
    pub(super) fn kill(&mut self, now: Instant) {
        if let Some(until) = self.hunting {
            let spare = self.runners();
            sweep::pass(own_pid(), &spare);
            self.reap(now);
            if now >= until || sweep::survivors(own_pid(), &spare).is_empty() {
                self.hunting = None;
            }
        }
        let killing: Vec<u32> = self
            .runs
            .values()
            .filter(|run| matches!(run.phase, Phase::Killing { .. }))
            .map(|run| run.id)
            .collect();
        for id in killing {
            self.kill_run(id, now);
        }
    }

    pub(super) fn kill_run(&mut self, id: u32, now: Instant) {
        let Some(run) = self.runs.get(&id) else { return };
        let Phase::Killing { give_up } = run.phase else { return };
        let runner = match &run.process {
            Process::Command(_) => None,
            Process::Runner(runner) => Some((runner.pid, runner.state)),
        };
        let done = match runner {
            None => self.kill_cell(now),
            Some((pid, State::Busy)) => {
                // The host learns of the command's end before the search for its leftovers begins.
                let _ = self.outbox.flush();
                sweep::pass(pid, &[]);
                false
            }
            Some((_, State::Empty | State::Gone)) => self.hunting.is_none(),
        };
        // Without its runner the command's exit status is lost; only its end is known.
        if done && runner.is_some_and(|(_, state)| state == State::Gone) {
            self.on_exit(id, Status::Signal(libc::SIGKILL), now);
        }
        let Some(run) = self.runs.get_mut(&id) else { return };
        if done && run.has_exited() {
            run.deliver_to_the_end();
        } else if now >= give_up {
            run.survivors =
                runner.map_or_else(|| kill::left(self.scope), |(pid, _)| sweep::survivors(pid, &[]));
            run.deliver_what_is_there(&self.outbox);
            self.give_up(id, now);
        }
    }

    /// Ends the run although a process of it will not die.
    fn give_up(&mut self, id: u32, now: Instant) {
        self.on_exit(id, Status::Signal(libc::SIGKILL), now);
        if self.runs.get(&id).is_some_and(Run::has_begun) {
            return;
        }
        // The process hangs on its way to the program, beyond the reach of signals. Nothing else may run
        // beside it.
        if let Some(run) = self.runs.remove(&id) {
            let errno = Errno::TIMEDOUT.raw_os_error();
            self.outbox.push(id, &FromCell::Failed(Failed { stage: Stage::Exec, errno }));
            self.served |= run.lifetime == Lifetime::Cell;
            self.leave(run);
        }
    }

    /// Returns true when the cell is empty.
    pub(super) fn kill_cell(&mut self, now: Instant) -> bool {
        self.reap(now);
        if !(self.childless && kill::is_alone(self.scope)) {
            let _ = self.outbox.flush();
            kill::everything(self.scope, self.cgroup.as_ref());
            self.reap(now);
        }
        self.childless && kill::is_alone(self.scope)
    }

    /// Kills everything, sends the host the reason if there is one, and exits.
    pub(super) fn quit(mut self, quit: Quit) -> ! {
        let code = match quit {
            Quit::HostGone => 0,
            Quit::Fatal(message) => {
                self.outbox.push(0, &FromCell::Fatal(Fatal::Other(message)));
                1
            }
        };
        let _ = self.outbox.flush();
        self.kill_everything();
        if code != 0 {
            self.last_words();
        }
        sys::exit_now(code)
    }

    pub(super) fn kill_everything(&mut self) {
        let deadline = Instant::now() + KILL_PATIENCE;
        // Runners collect their own children; without runners they become ours.
        loop {
            kill::everything(self.scope, self.cgroup.as_ref());
            self.collect_all();
            if (self.childless && kill::is_alone(self.scope)) || Instant::now() >= deadline {
                return;
            }
            let mut fds = [PollFd::new(&self.children, PollFlags::IN)];
            let _ = rustix::event::poll(&mut fds, Some(&timespec(KILL_TICK)));
            self.clear_child_events();
        }
    }

    pub(super) fn collect_all(&mut self) {
        loop {
            match sys::wait_any() {
                Ok(Some(_)) => self.childless = false,
                Ok(None) => {
                    self.childless = false;
                    return;
                }
                Err(_) => {
                    self.childless = true;
                    return;
                }
            }
        }
    }

    pub(super) fn last_words(&mut self) {
        let deadline = Instant::now() + LAST_WORDS;
        while !self.outbox.is_empty() && self.outbox.flush().is_ok() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let mut fds = [PollFd::from_borrowed_fd(self.outbox.fd(), PollFlags::OUT)];
            let _ = rustix::event::poll(&mut fds, Some(&timespec(left)));
        }
    }
}
