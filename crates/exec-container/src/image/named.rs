//! Named images: used as they are, pulled if missing.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use exec_cell::Progress;
use exec_core::{Change, Error, ErrorKind, Remedy, Result};

use super::not_looked_up;
use crate::engine::{Engine, ImageFacts};

/// Whether missing images are pulled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PullPolicy {
    /// Pulls missing images.
    #[default]
    Missing,
    /// Never pulls: a missing image is an error.
    Never,
}

/// The images that were looked up, by the requested names.
#[derive(Debug, Default)]
pub(crate) struct Named {
    known: Mutex<HashMap<String, ImageFacts>>,
    /// One pull at a time: a second caller waits for the first and then finds the image.
    pulling: tokio::sync::Mutex<()>,
}

impl Named {
    /// Looks the image up by all names it may have on the engine, every time: a name can mean another image at any
    /// moment.
    pub(crate) async fn resolve(
        &self,
        engine: &Engine,
        name: &str,
        known_as: &[String],
        policy: PullPolicy,
        progress: &Progress,
    ) -> Result<ImageFacts> {
        let image = match first(engine, known_as).await? {
            Some(image) => image,
            None if policy == PullPolicy::Never => return Err(missing(name).with_backend(engine.backend())),
            None => self.pull(engine, name, progress).await?,
        };
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), image.clone());
        Ok(image)
    }

    /// The result of the last lookup.
    pub(crate) fn known(&self, name: &str) -> Result<ImageFacts> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(name).cloned().ok_or_else(|| not_looked_up(name))
    }

    async fn pull(&self, engine: &Engine, name: &str, progress: &Progress) -> Result<ImageFacts> {
        let _turn = self.pulling.lock().await;
        if let Some(image) = engine.image(name).await? {
            return Ok(image);
        }
        tracing::info!(image = name, "pulling");
        engine.pull(name, progress).await?;
        engine.image(name).await?.ok_or_else(|| missing(name).with_backend(engine.backend()))
    }
}

async fn first(engine: &Engine, names: &[String]) -> Result<Option<ImageFacts>> {
    for name in names {
        if let Some(image) = engine.image(name).await? {
            return Ok(Some(image));
        }
    }
    Ok(None)
}

fn missing(name: &str) -> Error {
    Error::new(ErrorKind::ImageNotFound, "image", format!("there is no image `{name}` on this engine"))
        .with_remedy(
            Remedy::engine("pull or build it")
                .or(Change::leave_out("image").with_purpose("to use this machine's own programs")),
        )
}
