//! Lists and removes our objects on an engine, from any process, not only their owner.

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
    /// Keeps a service that was started for us alive.
    _lifeline: Option<Lifeline>,
}

/// A container of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The engine's id for it.
    pub id: String,
    /// Our name for it.
    pub name: String,
}

/// An image of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredImage {
    /// The engine's id for it.
    pub id: String,
    /// Its names; empty if its last name was given to another image.
    pub names: Vec<String>,
    /// When it was built, in seconds since 1970.
    pub made: u64,
    /// Its size in bytes.
    pub size: u64,
}

impl Depot {
    /// Connects to an engine.
    ///
    /// # Errors
    ///
    /// Fails if the engine does not answer in time.
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

    /// The depot of an engine that has answered.
    pub fn of(answered: Answered, backend: &str, patience: Patience) -> Result<Self> {
        let Answered { endpoint, greeting, lifeline, .. } = answered;
        let engine = Engine::connect(&endpoint, &greeting, backend, patience)?;
        Ok(Self { engine, endpoint: endpoint.to_string(), _lifeline: lifeline })
    }

    /// The engine's address.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// Containers whose records are in this directory, according to their labels.
    pub async fn written_down_in(&self, state: &StateDir) -> Result<Vec<Stored>> {
        let label = format!("{}={}", labels::STATE, state.path().to_string_lossy());
        let listed = self.engine.list(&label).await?;
        Ok(listed.into_iter().filter(labels::is_ours).map(stored).collect())
    }

    /// Containers of dead owners.
    pub async fn leftovers(&self) -> Result<Vec<Stored>> {
        let Some(here) = World::here() else { return Ok(Vec::new()) };
        let listed = self.engine.list(labels::OWNER).await?;
        let left = listed.into_iter().filter(|one| is_leftover(one, &here, ProcessState::of));
        Ok(left.map(stored).collect())
    }

    /// Removes a container in any state. A container that does not exist is not an error.
    pub async fn remove(&self, id: &str) -> Result<()> {
        self.engine.remove(id).await
    }

    /// Images that we built. An image based on one of ours inherits its label, so images with a foreign name are
    /// left out.
    pub async fn images(&self) -> Result<Vec<StoredImage>> {
        let listed = self.engine.labelled_images(labels::VERSION).await?;
        let number = |value: i64| u64::try_from(value).unwrap_or(0);
        let image = |image: bollard::models::ImageSummary| StoredImage {
            made: number(image.created),
            size: number(image.size),
            // Engines show this in place of a name.
            names: image.repo_tags.into_iter().filter(|name| !name.contains("<none>")).collect(),
            id: image.id,
        };
        let is_ours = |image: &StoredImage| image.names.iter().all(|name| is_name_of_ours(name));
        Ok(listed.into_iter().map(image).filter(is_ours).collect())
    }

    /// Pulls an image and returns its digest, if the engine knows one.
    pub async fn pull(&self, name: &str, progress: &Progress) -> Result<Option<String>> {
        self.engine.pull(name, &|step: ImageStep| progress.tell(step)).await?;
        let image = self.engine.image(name).await?;
        Ok(image.and_then(|image| image.digest))
    }

    /// Whether there are containers of this image, in any state.
    pub async fn is_used(&self, image: &StoredImage) -> Result<bool> {
        Ok(!self.engine.users(Used::Image(&image.id)).await?.is_empty())
    }

    /// Removes an unused image; returns `false` if it is in use.
    pub async fn remove_image(&self, image: &StoredImage) -> Result<bool> {
        if image.names.is_empty() {
            return self.engine.remove_image(&image.id).await;
        }
        // Engines refuse to remove an image with several names by its id; removing the last name removes the image.
        for name in &image.names {
            if !self.engine.remove_image(name).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the container still exists.
    pub async fn has(&self, id: &str) -> Result<bool> {
        self.engine.exists(id).await
    }
}

/// Removes lanes of dead processes, or only counts them.
pub fn clear_lanes(mode: SweepMode) -> usize {
    lane::clear(&cache::directory(), mode)
}

fn stored(listed: Listed) -> Stored {
    Stored { id: listed.id, name: listed.name }
}
