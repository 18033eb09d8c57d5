//! The images of an engine, and how their pulls and builds progress.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use exec_core::Result;

/// The images of an engine that answers.
#[async_trait]
pub trait ImageStore: Send + Sync {
    /// Images that we built.
    async fn images(&self) -> Result<Vec<StoredImage>>;

    /// Whether there are containers of this image, in any state.
    async fn is_used(&self, image: &StoredImage) -> Result<bool>;

    /// Removes an unused image; returns `false` if it is in use.
    async fn remove(&self, image: &StoredImage) -> Result<bool>;

    /// Pulls an image and returns its digest, if the engine knows one.
    async fn pull(&self, name: &str, progress: &Progress) -> Result<Option<String>>;

    /// The registry digest (`sha256:…`) of each of these images.
    ///
    /// # Errors
    ///
    /// Fails if the engine lacks an image, or the image did not come from a registry.
    async fn digests(&self, images: &BTreeSet<String>) -> Result<BTreeMap<String, String>>;
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

/// Receives the steps of image pulls and builds. The default logs them.
#[derive(Clone)]
pub struct Progress(Arc<dyn Fn(ImageStep) + Send + Sync>);

impl Progress {
    /// Calls this for every step.
    pub fn new(tell: impl Fn(ImageStep) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    /// Reports a step.
    pub fn tell(&self, step: ImageStep) {
        (self.0)(step);
    }
}

impl Default for Progress {
    fn default() -> Self {
        Self::new(|step| tracing::debug!(?step, "image"))
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Progress")
    }
}

/// A step of a pull or a build, for showing progress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImageStep {
    /// A step of a pull.
    Pull(PullStep),
    /// A step of a build.
    Build(BuildStep),
}

/// A step of a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildStep {
    /// The number of the step; 0 before the first.
    pub number: u32,
    /// The number of steps in this build stage.
    pub of: u32,
    /// The instruction.
    pub what: String,
}

/// A step of a pull.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullStep {
    /// The layer, if the step is about one.
    pub layer: Option<String>,
    /// Its status.
    pub status: String,
    /// Bytes done, and the total.
    pub bytes: Option<(i64, i64)>,
}
