//! The local executor: finds out which walls the host allows, once, and runs behind them.

use exec_core::{Detected, Executor, Result, Wraps};

use crate::config::{LocalConfig, NAME};
use crate::os;

/// Runs commands on this machine.
#[derive(Debug)]
pub struct LocalExec(Box<dyn Executor>);

impl LocalExec {
    /// Makes a first cell to find out what this host allows. With [`WallsChoice::Auto`](crate::WallsChoice::Auto) the
    /// strongest walls that can be had are used; [`capabilities`](Executor::capabilities) and every result tell which.
    pub async fn new(config: LocalConfig) -> Result<Self> {
        os::executor(&config).await.map(Self)
    }
}

impl Wraps for LocalExec {
    fn inner(&self) -> &dyn Executor {
        &*self.0
    }
}

/// Local execution as a registry's entry: missing where the host does not allow it. A first run that makes no sense is an
/// error here as it would be there.
pub async fn detect(config: LocalConfig) -> Result<Detected> {
    Detected::of(NAME, LocalExec::new(config).await, "use a container")
}
