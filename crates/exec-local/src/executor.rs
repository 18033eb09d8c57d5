//! The local executor: learns once which walls the host allows, and runs commands behind them.

use exec_core::{Executor, Result, Wraps};

use crate::config::LocalConfig;
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
