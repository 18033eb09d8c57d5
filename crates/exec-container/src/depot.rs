//! What of ours is on an engine, for whoever stops and cleans up from outside: any process, not only the owner.

use exec_core::{Error, ErrorKind, Result};
use exec_watch::{ProcessState, StateDir, SweepMode, World};

use crate::engine::{Engine, Listed};
use crate::leftovers::is_leftover;
use crate::supervisor::cache_directory;
use crate::{Endpoint, Patience, greet, labels, lane};

/// An engine that answers.
#[derive(Debug, Clone)]
pub struct Depot {
    engine: Engine,
    endpoint: String,
}

/// A container of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The engine's name for it.
    pub id: String,
    /// Ours.
    pub name: String,
}

impl Depot {
    /// Asks whether anybody listens there.
    pub async fn open(endpoint: &Endpoint, backend: &str, patience: Patience) -> Result<Self> {
        let greeting = greet(endpoint, patience.greet).await.map_err(|silence| {
            Error::new(ErrorKind::Unavailable, "connect", "the engine does not answer")
                .with_backend(backend)
                .with_context("at", endpoint)
                .with_context("found", format!("{silence:?}"))
                .with_remedy("see whether it runs, or hangs")
        })?;
        let engine = Engine::connect(endpoint, &greeting, backend, patience)?;
        Ok(Self { engine, endpoint: endpoint.to_string() })
    }

    /// Where it listens.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// Containers whose records are in this directory, by what their labels say.
    pub async fn written_down_in(&self, state: &StateDir) -> Result<Vec<Stored>> {
        let label = format!("{}={}", labels::STATE, state.path().to_string_lossy());
        let listed = self.engine.list(&label).await?;
        Ok(listed.into_iter().filter(labels::is_ours).map(stored).collect())
    }

    /// Containers of owners that are dead.
    pub async fn leftovers(&self) -> Result<Vec<Stored>> {
        let Some(here) = World::here() else { return Ok(Vec::new()) };
        let listed = self.engine.list(labels::OWNER).await?;
        let left = listed.into_iter().filter(|one| is_leftover(one, &here, ProcessState::of));
        Ok(left.map(stored).collect())
    }

    /// Removes a container, whatever it does. One that is not there is removed.
    pub async fn remove(&self, id: &str) -> Result<()> {
        self.engine.remove(id).await
    }

    /// Whether it is still there.
    pub async fn has(&self, id: &str) -> Result<bool> {
        self.engine.exists(id).await
    }
}

/// Removes ways past engines that were laid by processes that are dead, or only counts them.
pub fn clear_lanes(mode: SweepMode) -> usize {
    lane::clear(&cache_directory(), mode)
}

fn stored(listed: Listed) -> Stored {
    Stored { id: listed.id, name: listed.name }
}
