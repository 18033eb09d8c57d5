//! Local execution as a backend. It has no engine: its cells are processes of this machine.

use async_trait::async_trait;
use exec_cell::{Backend, Setup};
use exec_core::{Detected, Result};

use crate::config::{LocalConfig, NAME};
use crate::executor::LocalExec;

#[async_trait]
impl Backend for LocalConfig {
    fn name(&self) -> &str {
        NAME
    }

    fn description(&self) -> &'static str {
        "Namespaces on this host"
    }

    async fn detect(&self, setup: Setup) -> Result<Detected> {
        let config = Self {
            watch: setup.watch,
            first_run: setup.first_run,
            warm_cells: setup.warm_cells.unwrap_or(self.warm_cells),
            ..self.clone()
        };
        Detected::of(LocalExec::new(config).await, "use a container")
    }
}
