//! Volumes and networks of owners that are dead: which there are, who uses them, and how they go.
//!
//! The volume with PID 1 in it is none of them. It serves all owners and says so by having none: whoever was alive when it was
//! looked at may be about to make a container of it, and an engine would then make an empty one in its place. It holds one
//! file, and there is one for each version.

use std::fmt;

use exec_core::Result;
use exec_watch::{ProcessState, World};

use crate::engine::{Listed, Used};
use crate::leftovers::is_leftover;
use crate::{Depot, labels};

/// What sort of thing it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldingKind {
    /// A volume.
    Volume,
    /// A network.
    Network,
}

impl fmt::Display for HoldingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Volume => "volume",
            Self::Network => "network",
        })
    }
}

/// A volume or a network whose owner is dead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holding {
    /// Which of the two.
    pub kind: HoldingKind,
    /// Its name.
    pub name: String,
}

impl Depot {
    /// Volumes and networks of owners that are dead, by the same rule as containers: all our labels, and the name in them.
    pub async fn holdings(&self) -> Result<Vec<Holding>> {
        let Some(here) = World::here() else { return Ok(Vec::new()) };
        let left = |listed: Vec<Listed>, kind| {
            let dead = listed.into_iter().filter(|one| is_leftover(one, &here, ProcessState::of));
            dead.map(|one| Holding { kind, name: one.name }).collect::<Vec<_>>()
        };
        let volumes = left(self.engine.list_volumes(labels::OWNER).await?, HoldingKind::Volume);
        let networks = left(self.engine.list_networks(labels::OWNER).await?, HoldingKind::Network);
        Ok([volumes, networks].concat())
    }

    /// The names of the containers that use it, whatever their state.
    pub async fn users(&self, holding: &Holding) -> Result<Vec<String>> {
        let used = match holding.kind {
            HoldingKind::Volume => Used::Volume(&holding.name),
            HoldingKind::Network => Used::Network(&holding.name),
        };
        let users = self.engine.users(used).await?;
        Ok(users.into_iter().map(|user| user.name).collect())
    }

    /// Removes it; false if something has come to use it.
    pub async fn remove_holding(&self, holding: &Holding) -> Result<bool> {
        match holding.kind {
            HoldingKind::Volume => self.engine.remove_volume(&holding.name).await,
            HoldingKind::Network => self.engine.remove_network(&holding.name).await,
        }
    }
}
