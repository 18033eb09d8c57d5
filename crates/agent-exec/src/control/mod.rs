//! Seeing and stopping what runs on this machine, whoever started it.
//!
//! A [`Controller`] reads the records of one state directory. What it stops is what is written down there, and on engines
//! what carries that directory's label: never anything by its name, and nothing of anybody else.

mod engines;
mod gc;
mod health;
pub mod images;
mod report;
mod stop;

use std::time::Duration;

pub use exec_cell::{Engines, Left, Leftovers, Removal};
pub use exec_control::{
    Audit, AuditFile, CellRecord, CellView, Latch, Load, Meant, Moment, OwnerState, Place, RunRecord,
    StateDir, Survivor, Target, Watch,
};
pub use exec_control::{SweepMode, Swept};
use exec_core::Result;
pub use gc::Cleaned;
pub use health::{HealthReport, HealthState, Problem};
pub use report::{Ended, Report};

use crate::Backends;

/// How long a polite stop waits before it becomes a kill.
pub const STOP_GRACE: Duration = Duration::from_secs(30);

/// Sees and stops what is written down in a state directory.
///
/// ```no_run
/// use agent_exec::control::{Target, Controller};
///
/// # async fn example() -> agent_exec::Result<()> {
/// let controller = Controller::of_this_user();
/// for cell in controller.look()? {
///     println!("{}: {} runs, {:?}", cell.record.name, cell.runs.len(), cell.load);
/// }
/// let report = controller.kill(&Target::All).await?;
/// assert!(report.is_clean(), "{:?}", report.survivors);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Controller {
    watch: Watch,
    backends: Backends,
}

impl Controller {
    /// Of the directory where all orchestrators of this user meet.
    pub fn of_this_user() -> Self {
        Self::of(Watch::default())
    }

    /// Of the directory that this one writes to.
    pub fn of(watch: Watch) -> Self {
        Self { watch, backends: Backends::default() }
    }

    /// Asks the engines of these backends, instead of those built in, for what only an engine can do. Containers of other
    /// backends are reported as left.
    #[must_use]
    pub fn with_backends(mut self, backends: Backends) -> Self {
        self.backends = backends;
        self
    }

    /// Where the records are.
    pub fn state(&self) -> &StateDir {
        self.watch.state()
    }

    /// All cells, with their runs and what they use.
    pub fn look(&self) -> Result<Vec<CellView>> {
        exec_control::look(self.state())
    }

    /// All cells, with their runs but without what they use.
    fn list(&self) -> Result<Vec<CellView>> {
        exec_control::list(self.state())
    }

    /// The latch, if an emergency stop is in force.
    pub fn latched(&self) -> Result<Option<Latch>> {
        self.state().latched()
    }

    /// Lifts the latch of an emergency stop; says whether it was down.
    pub fn resume(&self) -> Result<bool> {
        self.state().lift()
    }
}
