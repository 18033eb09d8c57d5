//! How containers are created.

use std::time::Duration;

use exec_cell::{PoolConfig, Progress, Setup};
use exec_control::Watch;
use exec_core::ExecOpts;

use crate::Patience;
use crate::image::PullPolicy;
use crate::init::InitPlacement;

/// The configuration shared by executors on any engine.
#[derive(Debug, Clone)]
pub struct ContainerConfig {
    /// The image of runs that don't name one; `None` or `host` for this machine's own programs.
    pub image: Option<String>,
    /// Whether missing images are pulled.
    pub pull: PullPolicy,
    /// Receives the progress of pulls and builds.
    pub progress: Progress,
    /// How PID 1 gets into containers.
    pub init: InitPlacement,
    /// Containers kept warm per exact specification; 0 keeps none.
    pub warm_cells: usize,
    /// How long an unused warm container is kept.
    pub warm_idle: Duration,
    /// How long the engine may take.
    pub patience: Patience,
    /// The options of the first run, if known: its container is then created with the executor, which shows that
    /// the engine can do it.
    pub first_run: Option<ExecOpts>,
    /// Records containers and runs, so that they can be listed and stopped from other processes.
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
    /// This configuration with the setup that every backend receives.
    #[must_use]
    pub fn set_up(&self, setup: Setup) -> Self {
        Self {
            watch: setup.watch,
            first_run: setup.first_run,
            warm_cells: setup.warm_cells.unwrap_or(self.warm_cells),
            progress: setup.progress.unwrap_or_else(|| self.progress.clone()),
            ..self.clone()
        }
    }

    pub(crate) fn pool(&self) -> PoolConfig {
        let total = PoolConfig::default().total.max(self.warm_cells);
        PoolConfig { per_spec: self.warm_cells, total, idle: self.warm_idle }
    }
}
