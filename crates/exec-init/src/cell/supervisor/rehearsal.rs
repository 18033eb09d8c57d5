//! Rehearses the start of a command while the cell is idle.
//!
//! The first time a new process does anything, memory has to be found for it, and in new control groups every
//! page is charged for the first time. The rehearsal takes that cost before a command arrives. No foreign
//! code runs: the rehearsal ends where the program would be executed. It also looks up the names that nearly
//! every program starts with, because some engines serve containers' files from a separate process, which is
//! asked once for each name.

use std::ffi::CStr;
use std::time::{Duration, Instant};

use exec_wire::{Lifetime, Limits, Start, Stdio};
use rustix::process::{Pid, WaitOptions, waitpid};

use super::Supervisor;
use crate::cell::spawn::{self, Process};

/// Idle time before a rehearsal, so that a command that arrives sooner is not delayed.
const IDLE: Duration = Duration::from_millis(1);

/// A name that can't exist: `/proc/self` holds nothing of the kind.
const NO_PROGRAM: &[u8] = b"/proc/self/no-such-program";

/// Directories of programs, their loader and their libraries.
const FIRST_NAMES: [&CStr; 5] = [c"/bin/.", c"/lib/.", c"/lib64/.", c"/usr/bin/.", c"/etc/."];

impl Supervisor {
    pub(super) fn plan_rehearsal(&mut self, now: Instant) {
        self.rehearsal = Some(now + IDLE);
    }

    /// Rehearses if it is time and nothing else is pending.
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
