//! What of ours is on an engine, for whoever stops and cleans up from outside: any process, not only the owner.

use exec_core::{Error, ErrorKind, Result};
use exec_watch::{ProcessState, StateDir, SweepMode, World};

use crate::engine::{Engine, ImageStep, Listed, Used};
use crate::image::is_name_of_ours;
use crate::leftovers::is_leftover;
use crate::{Answered, Endpoint, Lifeline, Patience, Progress, cache, greet, labels, lane};

/// An engine that answers.
#[derive(Debug, Clone)]
pub struct Depot {
    pub(crate) engine: Engine,
    endpoint: String,
    /// One that was started for us goes on for as long as this is held.
    _lifeline: Option<Lifeline>,
}

/// A container of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The engine's name for it.
    pub id: String,
    /// Ours.
    pub name: String,
}

/// An image of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredImage {
    /// The engine's name for it.
    pub id: String,
    /// What people call it; nothing for one whose name was given to another.
    pub names: Vec<String>,
    /// When it was made, in seconds since 1970.
    pub made: u64,
    /// Its size in bytes.
    pub size: u64,
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
        Self::of(Answered::at(endpoint.clone(), greeting), backend, patience)
    }

    /// What is on an engine that has answered.
    pub fn of(answered: Answered, backend: &str, patience: Patience) -> Result<Self> {
        let Answered { endpoint, greeting, lifeline, .. } = answered;
        let engine = Engine::connect(&endpoint, &greeting, backend, patience)?;
        Ok(Self { engine, endpoint: endpoint.to_string(), _lifeline: lifeline })
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

    /// Images that we made. Whatever is built from one of ours inherits its label; so nobody else may have given it a name.
    pub async fn images(&self) -> Result<Vec<StoredImage>> {
        let listed = self.engine.labelled_images(labels::VERSION).await?;
        let number = |value: i64| u64::try_from(value).unwrap_or(0);
        let image = |image: bollard::models::ImageSummary| StoredImage {
            made: number(image.created),
            size: number(image.size),
            // What engines show in place of a name.
            names: image.repo_tags.into_iter().filter(|name| !name.contains("<none>")).collect(),
            id: image.id,
        };
        let is_ours = |image: &StoredImage| image.names.iter().all(|name| is_name_of_ours(name));
        Ok(listed.into_iter().map(image).filter(is_ours).collect())
    }

    /// Fetches an image from its registry; its digest, where the engine knows one.
    pub async fn pull(&self, name: &str, progress: &Progress) -> Result<Option<String>> {
        self.engine.pull(name, &|step: ImageStep| progress.tell(step)).await?;
        let image = self.engine.image(name).await?;
        Ok(image.and_then(|image| image.digest))
    }

    /// Whether there are containers of this image, whatever their state.
    pub async fn is_used(&self, image: &StoredImage) -> Result<bool> {
        Ok(!self.engine.users(Used::Image(&image.id)).await?.is_empty())
    }

    /// Removes an image that nothing uses; false if something has come to.
    pub async fn remove_image(&self, image: &StoredImage) -> Result<bool> {
        if image.names.is_empty() {
            return self.engine.remove_image(&image.id).await;
        }
        // Engines refuse the id of what has several names, and with the last of them it goes.
        for name in &image.names {
            if !self.engine.remove_image(name).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether it is still there.
    pub async fn has(&self, id: &str) -> Result<bool> {
        self.engine.exists(id).await
    }
}

/// Removes ways past engines that were laid by processes that are dead, or only counts them.
pub fn clear_lanes(mode: SweepMode) -> usize {
    lane::clear(&cache::directory(), mode)
}

fn stored(listed: Listed) -> Stored {
    Stored { id: listed.id, name: listed.name }
}
