//! Lists and stops what runs on this machine, whichever process started it.
//!
//! A [`Controller`] reads the records of one state directory. It stops only cells recorded there, and on engines only
//! containers with that directory's label: nothing by its name alone, and nothing that belongs to others.

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

/// How long a polite stop waits before it kills.
pub const STOP_GRACE: Duration = Duration::from_secs(30);

/// Lists and stops what is recorded in a state directory.
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
    /// Uses the directory shared by all orchestrators of this user.
    pub fn of_this_user() -> Self {
        Self::of(Watch::default())
    }

    /// Uses the directory that this watch writes to.
    pub fn of(watch: Watch) -> Self {
        Self { watch, backends: Backends::default() }
    }

    /// Uses the engines of these backends instead of the built-in ones. Containers of other backends are reported as
    /// left.
    #[must_use]
    pub fn with_backends(mut self, backends: Backends) -> Self {
        self.backends = backends;
        self
    }

    /// The directory of the records.
    pub fn state(&self) -> &StateDir {
        self.watch.state()
    }

    /// Lists all cells, with their runs and load.
    pub fn look(&self) -> Result<Vec<CellView>> {
        exec_control::look(self.state())
    }

    /// Lists all cells, with their runs but without their load.
    fn list(&self) -> Result<Vec<CellView>> {
        exec_control::list(self.state())
    }

    /// The latch, if an emergency stop is in force.
    pub fn latched(&self) -> Result<Option<Latch>> {
        self.state().latched()
    }

    /// Lifts the latch of an emergency stop; returns whether it was set.
    pub fn resume(&self) -> Result<bool> {
        self.state().lift()
    }
}
