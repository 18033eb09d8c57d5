//! Stops and cleans up on engines, from any process, not only the owner of what is there.
//!
//! The backend finds the engines: [`FindEngines`].

mod cleaning;
mod digests;
mod images;
mod inventory;
mod removal;
mod volumes_and_networks;

use std::collections::BTreeSet;
use std::fmt::Debug;

use async_trait::async_trait;
use exec_cell::{Engines, ImageStore, Leftovers, Removal};
use exec_control::{CellRecord, StateDir, SweepMode};
use exec_core::Result;

use crate::{Answered, Endpoint, Patience};
use inventory::EngineInventory;

/// Finds the engines of one backend.
#[async_trait]
pub trait FindEngines: Debug + Send + Sync {
    /// The backend's name.
    fn backend(&self) -> &str;

    /// Addresses where this user's engines may be.
    fn places(&self) -> Vec<Endpoint>;

    /// Reaches the engine that runs would use.
    async fn reach(&self) -> Result<Answered>;

    /// Reaches every engine of this user, for callers with time to wait.
    async fn reach_all(&self) -> Vec<Result<Answered>> {
        vec![self.reach().await]
    }

    /// Whether an engine at this address was its owner's own and ended with it. Its containers are then on whichever
    /// engine answers now.
    fn ended_with_its_owner(&self, _address: &Endpoint) -> bool {
        false
    }
}

/// The [`Engines`] of a backend.
#[derive(Debug, Clone, Copy)]
pub struct ContainerEngines<'a>(pub &'a dyn FindEngines);

impl ContainerEngines<'_> {
    async fn reach_all(&self) -> Vec<EngineInventory> {
        let answered = self.0.reach_all().await.into_iter();
        let inventories =
            answered.map(|one| EngineInventory::of(one?, self.0.backend(), Patience::default()));
        let log = |error: &exec_core::Error| tracing::debug!(%error, "an engine that is not asked");
        inventories.filter_map(|inventory| inventory.inspect_err(log).ok()).collect()
    }
}

#[async_trait]
impl Engines for ContainerEngines<'_> {
    async fn remove(&self, cells: &[CellRecord]) -> Removal {
        removal::remove(self.0.backend(), cells).await
    }

    async fn remove_strays(&self, state: &StateDir, addresses: &BTreeSet<String>) -> Removal {
        let usual = self.0.places().into_iter().map(|place| place.to_string());
        let addresses = addresses.iter().cloned().chain(usual).collect();
        removal::remove_strays(self.0.backend(), state, addresses).await
    }

    async fn clean(&self, dead: Vec<CellRecord>, mode: SweepMode) -> Leftovers {
        // Held until the end: a service that was started for this ends with the last of them.
        let engines = self.reach_all().await;
        let mut found = cleaning::clean(&engines, mode).await;
        if mode == SweepMode::Remove {
            let unseen = dead.into_iter().filter(|cell| !cleaning::mentions(&found, &cell.name));
            let unseen: Vec<CellRecord> =
                unseen.map(|cell| cleaning::at_todays_address(cell, self.0, &engines)).collect();
            let removal = self.remove(&unseen).await;
            found.containers.extend(removal.gone);
            found.left.extend(removal.left);
        }
        found
    }

    async fn images(&self) -> Result<Box<dyn ImageStore>> {
        let answered = self.0.reach().await?;
        Ok(Box::new(EngineInventory::of(answered, self.0.backend(), Patience::default())?))
    }
}
