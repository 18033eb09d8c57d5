//! A cell that waits for its command uses the time: it goes through the motions of starting one.
//!
//! The first time a new process does anything, memory has to be found for it, and in new control groups every page
//! is charged for the first time. A command that comes later does not have to wait for that. Nothing foreign runs: the
//! rehearsal ends where the program would be executed. The names that nearly every program begins with are looked up too,
//! because some engines have containers' files in a process of their own, which is asked once for each.

use std::ffi::CStr;
use std::time::{Duration, Instant};

use exec_wire::{Lifetime, Limits, Start, Stdio};
use rustix::process::{Pid, WaitOptions, waitpid};

use super::Supervisor;
use crate::cell::spawn::{self, Process};

/// A command that comes sooner is not kept waiting.
const IDLE: Duration = Duration::from_millis(1);

/// No file can have this name: the directory of processes holds nothing of the kind.
const NO_PROGRAM: &[u8] = b"/proc/self/no-such-program";

/// Where programs, their loader and their libraries are.
const FIRST_NAMES: [&CStr; 5] = [c"/bin/.", c"/lib/.", c"/lib64/.", c"/usr/bin/.", c"/etc/."];

impl Supervisor {
    pub(super) fn plan_rehearsal(&mut self, now: Instant) {
        self.rehearsal = Some(now + IDLE);
    }

    /// Rehearses if it is time and nothing else is to be done.
    pub(super) fn rehearse(&mut self, now: Instant) {
        if self.rehearsal.is_none_or(|at| now < at) {
            return;
        }
        self.rehearsal = None;
        for name in FIRST_NAMES {
            let _ = rustix::fs::stat(name);
        }
        if let Ok(spawned) = spawn::spawn(nothing(), &self.fence, self.open_files, &mut self.stock)
            && let Process::Command(pid) = spawned.process
            && let Some(pid) = Pid::from_raw(pid)
        {
            let _ = waitpid(Some(pid), WaitOptions::empty());
        }
        let _ = self.counters();
        self.stock.fill();
    }
}

fn nothing() -> Start {
    Start {
        argv: vec![NO_PROGRAM.to_vec()],
        env: Vec::new(),
        cwd: b"/".to_vec(),
        stdio: Stdio::Pipes { stdin: false },
        limits: Limits { wall_ms: None, idle_ms: None, output_bytes: None, grace_ms: 0, drain_ms: 0 },
        lifetime: Lifetime::Cell,
        umask: 0o022,
        rlimits: Vec::new(),
    }
}
