//! Volumes and networks of dead owners: lists them, their users, and removes them.
//!
//! The volume with PID 1 is not among them. It serves all owners, so its labels name none: another process may be
//! about to create a container with it, and the engine would then create an empty volume in its place. It holds one
//! file, and there is one volume per version.

use std::fmt;

use exec_control::{ProcessState, World};
use exec_core::Result;

use super::EngineInventory;
use crate::cleanup::leftovers::is_leftover;
use crate::engine::labels;
use crate::engine::{Listed, Used};

/// The kind of a leftover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeftoverKind {
    /// A volume.
    Volume,
    /// A network.
    Network,
}

impl fmt::Display for LeftoverKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Volume => "volume",
            Self::Network => "network",
        })
    }
}

/// A volume or network whose owner is dead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Leftover {
    /// Volume or network.
    pub(super) kind: LeftoverKind,
    /// Its name.
    pub(super) name: String,
}

impl EngineInventory {
    /// Lists volumes and networks of dead owners, by the same rule as containers: they have all our labels, and
    /// their name is in them.
    pub(super) async fn leftover_objects(&self) -> Result<Vec<Leftover>> {
        let Some(here) = World::here() else { return Ok(Vec::new()) };
        let left = |listed: Vec<Listed>, kind| {
            let dead = listed.into_iter().filter(|one| is_leftover(one, &here, ProcessState::of));
            dead.map(|one| Leftover { kind, name: one.name }).collect::<Vec<_>>()
        };
        let volumes = left(self.engine.list_volumes(labels::OWNER).await?, LeftoverKind::Volume);
        let networks = left(self.engine.list_networks(labels::OWNER).await?, LeftoverKind::Network);
        Ok([volumes, networks].concat())
    }

    /// The names of the containers that use it, in any state.
    pub(super) async fn users(&self, leftover: &Leftover) -> Result<Vec<String>> {
        let used = match leftover.kind {
            LeftoverKind::Volume => Used::Volume(&leftover.name),
            LeftoverKind::Network => Used::Network(&leftover.name),
        };
        let users = self.engine.users(used).await?;
        Ok(users.into_iter().map(|user| user.name).collect())
    }

    /// Removes it; returns `false` if it is in use by now.
    pub(super) async fn remove_leftover(&self, leftover: &Leftover) -> Result<bool> {
        match leftover.kind {
            LeftoverKind::Volume => self.engine.remove_volume(&leftover.name).await,
            LeftoverKind::Network => self.engine.remove_network(&leftover.name).await,
        }
    }
}
