//! Process events: of commands, of runners and of orphans that this process inherited.

use std::time::Instant;

use exec_wire::{Lifetime, Status};

use super::{KILL_PATIENCE, Supervisor};
use crate::cell::reap::status_of;
use crate::cell::run::{Begun, Phase, Run};
use crate::cell::runner::{News, State};
use crate::cell::spawn::Process;
use crate::sys::{self, Change, Pid};

impl Supervisor {
    pub(super) fn on_report(&mut self, id: u32, now: Instant) {
        let Some(run) = self.runs.get_mut(&id) else { return };
        match run.begin(now, &mut self.outbox) {
            Begun::NotYet => {}
            Begun::Running => self.served |= run.lifetime == Lifetime::Cell,
            Begun::Failed => {
                if let Some(run) = self.runs.remove(&id) {
                    self.leave(run);
                }
            }
        }
    }

    pub(super) fn clear_child_events(&self) {
        let mut info = [0; 1024];
        while rustix::io::read(&self.children, &mut info).is_ok_and(|count| count > 0) {}
    }

    /// Collects every child that ended, including inherited orphans.
    pub(super) fn reap(&mut self, now: Instant) {
        loop {
            match sys::wait_any() {
                Ok(Some((pid, change))) => self.on_child(pid, change, now),
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

    pub(super) fn on_child(&mut self, pid: Pid, change: Change, now: Instant) {
        if change == Change::Stopped {
            // A command may stop its runner, but the runner is continued at once.
            if self.runners().contains(&pid) {
                let _ = sys::kill(pid, libc::SIGCONT);
            }
            return;
        }
        let commands = |run: &Run| matches!(run.process, Process::Command(command) if command == pid);
        if let Some(id) = self.runs.values().find(|run| commands(run)).map(|run| run.id) {
            self.on_exit(id, status_of(change), now);
        }
    }

    pub(super) fn on_exit(&mut self, id: u32, status: Status, now: Instant) {
        // The process is dead, so its report about the start is complete.
        self.on_report(id, now);
        if let Some(run) = self.runs.get_mut(&id) {
            run.exit(status, now, &mut self.outbox);
        }
    }

    pub(super) fn on_news(&mut self, id: u32, now: Instant) {
        let Some(run) = self.runs.get_mut(&id) else { return };
        let Process::Runner(runner) = &mut run.process else { return };
        match runner.news() {
            None => {}
            Some(News::Exited(status, usage)) => {
                run.usage = Some(usage);
                self.on_exit(id, status, now);
            }
            Some(News::Empty(usage)) => {
                runner.state = State::Empty;
                run.usage = Some(usage);
            }
            Some(News::Gone) => {
                let before = std::mem::replace(&mut runner.state, State::Gone);
                self.on_runner_gone(id, before, now);
            }
        }
    }

    /// Takes over from a runner that its own processes killed: they are now ours, and are killed.
    fn on_runner_gone(&mut self, id: u32, before: State, now: Instant) {
        if before != State::Busy {
            return;
        }
        self.hunting = Some(now + KILL_PATIENCE);
        if let Some(run) = self.runs.get_mut(&id)
            && run.phase != Phase::Delivering
        {
            run.phase = Phase::Killing { give_up: now + KILL_PATIENCE };
        }
    }

    pub(super) fn on_left(&mut self, pid: Pid, now: Instant) {
        let Some(index) = self.left.iter().position(|runner| runner.pid == pid) else { return };
        let Some(runner) = self.left.get(index) else { return };
        match runner.news() {
            None | Some(News::Exited(..)) => {}
            Some(News::Empty(_)) => drop(self.left.swap_remove(index)),
            Some(News::Gone) => {
                drop(self.left.swap_remove(index));
                self.hunting = Some(now + KILL_PATIENCE);
            }
        }
    }

    pub(super) fn runners(&self) -> Vec<Pid> {
        let current = self.runs.values().filter_map(|run| match &run.process {
            Process::Runner(runner) if runner.state != State::Gone => Some(runner.pid),
            _ => None,
        });
        current.chain(self.left.iter().map(|runner| runner.pid)).collect()
    }
}
