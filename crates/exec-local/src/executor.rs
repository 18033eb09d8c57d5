//! The local executor: learns once which walls the host allows, and runs commands behind them.

use exec_core::{Detected, Executor, Result, Wraps};

use crate::config::{LocalConfig, NAME};
use crate::os;

/// Runs commands on this machine.
#[derive(Debug)]
pub struct LocalExec(Box<dyn Executor>);

impl LocalExec {
    /// Makes a first cell to learn what this host allows.
    ///
    /// [`WallsChoice::Auto`](crate::WallsChoice::Auto) selects the strongest walls available;
    /// [`capabilities`](Executor::capabilities) and every result report which.
    ///
    /// # Errors
    ///
    /// Fails with `Unavailable` if the host does not allow the chosen walls.
    pub async fn new(config: LocalConfig) -> Result<Self> {
        os::executor(&config).await.map(Self)
    }
}

impl Wraps for LocalExec {
    fn inner(&self) -> &dyn Executor {
        &*self.0
    }
}

/// Local execution as a registry entry: missing where the host does not allow it.
///
/// # Errors
///
/// Fails if the configured first run is invalid, as that run would.
pub async fn detect(config: LocalConfig) -> Result<Detected> {
    Detected::of(NAME, LocalExec::new(config).await, "use a container")
}
