//! PID 1's loop: one thread, one `poll`, bounded buffers.
//!
//! It takes frames from the host, runs commands, carries their streams, enforces their limits and kills what
//! they leave behind. It does not know what walls stand around it; see [`Config`].

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

use exec_wire::LandlockPlan;

pub(crate) use stdio::HostStream;

use crate::cgroup::Cgroup;

/// What the loop is told about the cell it stands in.
#[derive(Debug)]
pub(crate) struct Config {
    /// A way past the standard streams, which then are only the lifeline.
    pub(crate) lane: Option<HostStream>,
    /// What Landlock still allows the commands; `None` for no Landlock.
    pub(crate) landlock: Option<LandlockPlan>,
    /// The control groups the cell's limits are in, if there are any.
    pub(crate) cgroup: Option<Cgroup>,
    /// What was asked for and could not be had, for the host's facts.
    pub(crate) notes: Vec<String>,
    /// How everything is killed.
    pub(crate) kill_scope: KillScope,
    /// The home and temporary directory of every command, whatever its environment says.
    pub(crate) home: Option<Vec<u8>>,
}

/// How everything in the cell is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KillScope {
    /// This process is PID 1 of a PID namespace: one `kill(-1)` reaches all.
    Namespace,
    /// This process is a child subreaper: all are below it, and are found through `/proc`.
    Descendants,
}

impl KillScope {
    /// What this process can be.
    pub(crate) fn of_this_process() -> Self {
        if std::process::id() == 1 { Self::Namespace } else { Self::Descendants }
    }
}

/// Serves the host on its lane, or else on descriptors 0 and 1, until it goes away; then kills everything and exits.
///
/// Descriptors other than the standard three that must not reach a command need no care: they are all made to
/// close on exec.
pub(crate) fn serve(config: Config) -> ! {
    crate::quota::halve_queues();
    supervisor::serve(config)
}
