//! How containers are made.

use std::time::Duration;

use exec_cell::PoolConfig;
use exec_core::ExecOpts;
use exec_watch::Watch;

use crate::Patience;
use crate::image::{Progress, PullPolicy};
use crate::supervisor::InitPlacement;

/// What every executor on an engine can be told.
#[derive(Debug, Clone)]
pub struct ContainerConfig {
    /// The image of runs that name none; `None`, or `host`, for this machine's own programs.
    pub image: Option<String>,
    /// Whether missing images are fetched.
    pub pull: PullPolicy,
    /// Who is told how a pull goes.
    pub progress: Progress,
    /// How PID 1 gets into containers.
    pub init: InitPlacement,
    /// Containers kept warm per exact specification; 0 keeps none.
    pub warm_cells: usize,
    /// A warm container nobody used for this long is ended.
    pub warm_idle: Duration,
    /// How long the engine may take.
    pub patience: Patience,
    /// The options of the first run, if they are known already: its container is then made with the executor, which shows
    /// that the engine can.
    pub first_run: Option<ExecOpts>,
    /// Where containers and runs are written down, so that they can be seen and stopped from elsewhere.
    pub watch: Watch,
}

impl Default for ContainerConfig {
    fn default() -> Self {
        let PoolConfig { per_spec, idle, .. } = PoolConfig::default();
        Self {
            image: None,
            pull: PullPolicy::default(),
            progress: Progress::default(),
            init: InitPlacement::default(),
            warm_cells: per_spec,
            warm_idle: idle,
            patience: Patience::default(),
            first_run: None,
            watch: Watch::default(),
        }
    }
}

impl ContainerConfig {
    pub(crate) fn pool(&self) -> PoolConfig {
        let total = PoolConfig::default().total.max(self.warm_cells);
        PoolConfig { per_spec: self.warm_cells, total, idle: self.warm_idle }
    }
}
