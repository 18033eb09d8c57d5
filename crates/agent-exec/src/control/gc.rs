//! Cleans up after dead owners, on this machine and on engines.

use exec_control::{CellRecord, OwnerState, SweepMode, Swept};
use exec_core::Result;
use serde::Serialize;

use super::{Controller, Left, engines};

/// The result of a cleanup, or of a dry run.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Cleaned {
    /// On this machine.
    #[serde(flatten)]
    pub here: Swept,
    /// Containers.
    pub containers: Vec<String>,
    /// Volumes.
    pub volumes: Vec<String>,
    /// Networks.
    pub networks: Vec<String>,
    /// FIFO channels that are no longer in use.
    pub fifo_channels: usize,
    /// Cleanup that was not done.
    pub left: Vec<Left>,
    /// How many of those are volumes and networks in use, which rightly stay.
    pub in_use: usize,
}

impl Cleaned {
    /// Whether there was nothing to do.
    pub fn is_nothing(&self) -> bool {
        let named = [&self.containers, &self.volumes, &self.networks];
        let is_none =
            self.fifo_channels == 0 && self.left.is_empty() && named.iter().all(|names| names.is_empty());
        is_none && self.here == Swept::default()
    }

    /// Whether everything that had to be done was done.
    pub fn is_done(&self) -> bool {
        self.left.len() == self.in_use && self.here.problems.is_empty()
    }
}

impl Controller {
    /// Removes what dead owners left: processes, control groups, directories, records, and their containers, volumes
    /// and networks on the engines in the records and in the usual places; Podman is asked even if none of its services
    /// listens. Resources that are not ours, in doubt or in use stay.
    pub async fn gc(&self, mode: SweepMode) -> Result<Cleaned> {
        let watch = self.watch.clone();
        let dead: Vec<CellRecord> = self
            .list()?
            .into_iter()
            .filter(|cell| cell.owner == OwnerState::Dead)
            .map(|cell| cell.record)
            .collect();
        let here = tokio::task::spawn_blocking(move || watch.sweep(mode))
            .await
            .unwrap_or_else(|_| Ok(Swept::default()))?;
        let names: Vec<String> = dead.iter().map(|cell| cell.name.clone()).collect();
        let found = engines::clean(&self.backends, dead, mode).await;
        if mode == SweepMode::Remove {
            for cell in names.iter().filter(|name| found.containers.contains(name)) {
                self.state().forget(cell)?;
            }
        }
        Ok(Cleaned {
            here,
            containers: found.containers,
            volumes: found.volumes,
            networks: found.networks,
            fifo_channels: found.fifo_channels.len(),
            left: found.left,
            in_use: found.in_use,
        })
    }
}
