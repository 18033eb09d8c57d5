//! Cleaning up after owners that are dead, on this machine and on engines.

use exec_core::Result;
use exec_watch::{CellRecord, OwnerState, SweepMode, Swept};
use serde::Serialize;

use super::{Left, Warden, engines};

/// What cleaning up came to, or would.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Cleaned {
    /// On this machine.
    #[serde(flatten)]
    pub here: Swept,
    /// Containers.
    pub containers: Vec<String>,
    /// Ways past an engine that nobody uses any more.
    pub lanes: usize,
    /// What could not be done.
    pub left: Vec<Left>,
}

impl Cleaned {
    /// Whether there was nothing to do.
    pub fn is_nothing(&self) -> bool {
        self.here == Swept::default() && self.containers.is_empty() && self.lanes == 0 && self.left.is_empty()
    }
}

impl Warden {
    /// Removes what owners left that are dead: processes, control groups, directories, records, and their containers on the
    /// engines in the records and in the usual places. Strangers stay, and so does everything about which there is a doubt.
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
        let mut cleaned = Cleaned { here, ..Cleaned::default() };
        if mode == SweepMode::Remove {
            let asked = engines::remove(&dead).await;
            for cell in &asked.gone {
                self.state().strike(cell)?;
            }
            cleaned.containers.extend(asked.gone);
            cleaned.left.extend(asked.left);
        }
        let asked = engines::leftovers(mode).await;
        let new = asked.gone.into_iter().filter(|name| !cleaned.containers.contains(name));
        let new: Vec<String> = new.collect();
        cleaned.containers.extend(new);
        cleaned.left.extend(asked.left);
        cleaned.lanes = engines::clear_lanes(mode);
        Ok(cleaned)
    }
}
