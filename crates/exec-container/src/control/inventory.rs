//! Lists and removes our objects on an engine, from any process, not only their owner.

use exec_control::{ProcessState, StateDir, World};
use exec_core::{Error, ErrorKind, Remedy, Result};

use crate::cleanup::leftovers::is_leftover;
use crate::engine::dialect::Dialect;
use crate::engine::labels;
use crate::engine::{Engine, Listed};
use crate::{Answered, Endpoint, Lifeline, Patience, greet};

/// An engine that answers.
#[derive(Debug, Clone)]
pub(super) struct EngineInventory {
    pub(super) engine: Engine,
    pub(super) dialect: Dialect,
    endpoint: String,
    /// Keeps a service that was started for us alive.
    _lifeline: Option<Lifeline>,
}

/// A container of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stored {
    /// The engine's id for it.
    pub(super) id: String,
    /// Our name for it.
    pub(super) name: String,
}

impl EngineInventory {
    /// Connects to an engine.
    ///
    /// # Errors
    ///
    /// Fails if the engine does not answer in time.
    pub(super) async fn open(endpoint: &Endpoint, backend: &str, patience: Patience) -> Result<Self> {
        let greeting = greet(endpoint, patience.greet).await.map_err(|silence| {
            Error::new(ErrorKind::Unavailable, "connect", "the engine does not answer")
                .with_backend(backend)
                .with_context("at", endpoint)
                .with_context("found", format!("{silence:?}"))
                .with_remedy(Remedy::engine("see whether it runs, or hangs"))
        })?;
        Self::of(Answered::at(endpoint.clone(), greeting), backend, patience)
    }

    /// The inventory of an engine that has answered.
    pub(super) fn of(answered: Answered, backend: &str, patience: Patience) -> Result<Self> {
        let Answered { endpoint, greeting, lifeline, .. } = answered;
        let engine = Engine::connect(&endpoint, &greeting, backend, patience)?;
        let dialect = Dialect::of(greeting.product);
        Ok(Self { engine, dialect, endpoint: endpoint.to_string(), _lifeline: lifeline })
    }

    /// The engine's address.
    pub(super) fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// Containers whose records are in this directory, according to their labels.
    pub(super) async fn written_down_in(&self, state: &StateDir) -> Result<Vec<Stored>> {
        let label = format!("{}={}", labels::STATE, state.path().to_string_lossy());
        let listed = self.engine.list(&label).await?;
        Ok(listed.into_iter().filter(labels::is_ours).map(stored).collect())
    }

    /// Containers of dead owners.
    pub(super) async fn leftovers(&self) -> Result<Vec<Stored>> {
        let Some(here) = World::here() else { return Ok(Vec::new()) };
        let listed = self.engine.list(labels::OWNER).await?;
        let left = listed.into_iter().filter(|one| is_leftover(one, &here, ProcessState::of));
        Ok(left.map(stored).collect())
    }

    /// Removes a container in any state. A container that does not exist is not an error.
    pub(super) async fn remove(&self, id: &str) -> Result<()> {
        self.engine.remove(id).await
    }

    /// Whether the container still exists.
    pub(super) async fn has(&self, id: &str) -> Result<bool> {
        self.engine.exists(id).await
    }
}

fn stored(listed: Listed) -> Stored {
    Stored { id: listed.id, name: listed.name }
}
