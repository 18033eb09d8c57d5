//! Configuration of local cells.

use std::time::Duration;

use exec_cell::PoolConfig;
use exec_control::Watch;
use exec_core::ExecOpts;

/// The name that selects local execution.
pub(crate) const NAME: &str = "local";

/// Configuration of [`LocalExec`](crate::LocalExec), and the backend that makes it.
#[derive(Debug, Clone)]
pub struct LocalConfig {
    /// The walls between a command and the host.
    pub walls: WallsChoice,
    /// Cells kept warm per exact specification; 0 keeps none.
    pub warm_cells: usize,
    /// A warm cell that is idle for this long is ended.
    pub warm_idle: Duration,
    /// The options of the first run, if already known: the cell made to learn what the host allows is then
    /// the one that run uses.
    pub first_run: Option<ExecOpts>,
    /// Where cells and runs are recorded, so that other processes can list and stop them.
    pub watch: Watch,
}

impl Default for LocalConfig {
    fn default() -> Self {
        let PoolConfig { per_spec, idle, .. } = PoolConfig::default();
        Self {
            walls: WallsChoice::Auto,
            warm_cells: per_spec,
            warm_idle: idle,
            first_run: None,
            watch: Watch::default(),
        }
    }
}

#[cfg(target_os = "linux")]
impl LocalConfig {
    pub(crate) fn pool(&self) -> PoolConfig {
        let total = PoolConfig::default().total.max(self.warm_cells);
        PoolConfig { per_spec: self.warm_cells, total, idle: self.warm_idle }
    }
}

/// The walls between a command and the host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WallsChoice {
    /// Namespaces where the host allows them, or else the strongest walls available.
    #[default]
    Auto,
    /// Namespaces, or an error.
    Namespaces,
    /// A supervisor that inherits every orphan (Linux).
    Subreaper,
    /// A process group, which every Unix has.
    ProcessGroup,
}
