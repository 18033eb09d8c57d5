//! PID 1's loop: one thread, one `poll`, bounded buffers.
//!
//! It reads frames from the host, runs commands, carries their streams, enforces their limits and kills the
//! processes they leave behind. It does not know which walls surround the cell; see [`Config`].

mod clock;
mod facts;
mod inbox;
mod input;
mod kill;
mod launch;
mod outbox;
mod path;
mod reap;
mod report;
mod run;
mod runner;
mod spawn;
mod stdio;
mod stream;
mod supervisor;
pub(crate) mod sweep;
mod tty;

use exec_wire::{LandlockPlan, Note};

pub(crate) use stdio::HostStream;

use crate::cgroup::Cgroup;

/// What the loop needs to know about its cell.
#[derive(Debug)]
pub(crate) struct Config {
    /// A faster path for frames; the standard streams then only signal that the host is alive.
    pub(crate) fifo_channel: Option<HostStream>,
    /// The paths Landlock leaves to the commands; `None` for no Landlock.
    pub(crate) landlock: Option<LandlockPlan>,
    /// The control groups that hold the cell's limits, if any.
    pub(crate) cgroup: Option<Cgroup>,
    /// Requested restrictions that could not be applied, reported with the facts.
    pub(crate) notes: Vec<Note>,
    /// How to kill everything.
    pub(crate) kill_scope: KillScope,
    /// The home and temporary directory of every command; overrides its environment.
    pub(crate) home: Option<Vec<u8>>,
}

/// How to kill everything in the cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KillScope {
    /// This process is PID 1 of a PID namespace: one `kill(-1)` reaches every process.
    Namespace,
    /// This process is a child subreaper: every process is its descendant and found through `/proc`.
    Descendants,
}

impl KillScope {
    /// The scope this process is capable of.
    pub(crate) fn of_this_process() -> Self {
        if std::process::id() == 1 { Self::Namespace } else { Self::Descendants }
    }
}

/// Serves the host on its FIFO channel, or else on descriptors 0 and 1, until the host goes away; then kills
/// everything and exits.
///
/// Descriptors beyond the standard three never reach a command: all are made close-on-exec.
pub(crate) fn serve(config: Config) -> ! {
    crate::quota::halve_queues();
    supervisor::serve(config)
}
