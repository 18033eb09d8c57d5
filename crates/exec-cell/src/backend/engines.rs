//! The part of stopping and cleaning up that only an engine can do.

use std::collections::BTreeSet;

use async_trait::async_trait;
use exec_control::{CellRecord, StateDir, SweepMode};
use exec_core::{Error, ErrorKind, Remedy, Result};
use serde::Serialize;

use super::ImageStore;

/// The engines of one backend: services that keep its cells and go on without us.
///
/// Every method is for processes that did not create the cells: the owner of a cell ends it itself.
#[async_trait]
pub trait Engines: Send + Sync {
    /// Removes the containers of these cells. Their processes are already dead if this machine could see them.
    async fn remove(&self, cells: &[CellRecord]) -> Removal;

    /// Removes containers whose records should be in this directory and are not. Searches the engines at these addresses
    /// and at the usual ones.
    async fn remove_strays(&self, state: &StateDir, addresses: &BTreeSet<String>) -> Removal;

    /// Removes what dead owners left, or only lists it. `dead` are their cells according to the records.
    async fn clean(&self, dead: Vec<CellRecord>, mode: SweepMode) -> Leftovers;

    /// Connects to the images of the engine that runs would use.
    ///
    /// # Errors
    ///
    /// Fails if no engine answers, and by default.
    async fn images(&self) -> Result<Box<dyn ImageStore>> {
        Err(Error::new(ErrorKind::Unsupported, "images", "its images can't be listed or changed from here")
            .with_remedy(Remedy::engine("use the engine's own tools")))
    }
}

/// The result of removing containers.
#[derive(Debug, Default)]
pub struct Removal {
    /// The cells whose containers are gone, by name.
    pub gone: Vec<String>,
    /// What could not be removed.
    pub left: Vec<Left>,
}

impl Removal {
    /// Adds the result of another removal.
    pub fn add(&mut self, other: Self) {
        self.gone.extend(other.gone);
        self.left.extend(other.left);
    }
}

/// What dead owners left on engines, by name.
#[derive(Debug, Default)]
pub struct Leftovers {
    /// Containers.
    pub containers: Vec<String>,
    /// Volumes.
    pub volumes: Vec<String>,
    /// Networks.
    pub networks: Vec<String>,
    /// FIFO channels. Backends may share them, so they are counted by name.
    pub fifo_channels: BTreeSet<String>,
    /// What was not removed.
    pub left: Vec<Left>,
    /// How many of those are in use and rightly stay.
    pub in_use: usize,
}

impl Leftovers {
    /// Adds what was left on other engines.
    pub fn add(&mut self, other: Self) {
        self.containers.extend(other.containers);
        self.volumes.extend(other.volumes);
        self.networks.extend(other.networks);
        self.fifo_channels.extend(other.fifo_channels);
        self.left.extend(other.left);
        self.in_use += other.in_use;
    }
}

/// Something that could not be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Left {
    /// The resource it is about.
    pub what: String,
    /// The reason.
    pub why: String,
    /// Whether processes that can't be inspected may be alive.
    pub may_live: bool,
}
