//! Lists, prunes and pulls images. The decision which of our images go is pure.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use exec_cell::Progress;
pub use exec_cell::{ImageStore, StoredImage};
use exec_control::{Moment, SweepMode};
use exec_core::{Error, ErrorKind, Operation, Result};
use serde::Serialize;

use crate::Backends;

/// An image on an engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Image {
    /// The backend whose engine it is on.
    pub engine: String,
    /// The engine's name for it.
    pub id: String,
    /// Its names.
    pub names: Vec<String>,
    /// Its age in seconds.
    pub age_s: u64,
    /// Its size in bytes.
    pub size_bytes: u64,
}

/// Which images stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Older images go.
    pub older_than: Option<Duration>,
    /// On each engine, the oldest images go until the rest is no larger than this in total.
    pub keep_bytes: Option<u64>,
}

impl Policy {
    /// Selects the images of one engine that go, oldest first.
    pub fn condemned<'a>(&self, images: &'a [Image]) -> Vec<&'a Image> {
        let mut by_age: Vec<&Image> = images.iter().collect();
        by_age.sort_by_key(|image| std::cmp::Reverse(image.age_s));
        let mut total: u64 = images.iter().map(|image| image.size_bytes).sum();
        let mut condemned = Vec::new();
        for image in by_age {
            let is_old = self.older_than.is_some_and(|limit| image.age_s > limit.as_secs());
            let is_too_much = self.keep_bytes.is_some_and(|most| total > most);
            if is_old || is_too_much {
                total = total.saturating_sub(image.size_bytes);
                condemned.push(image);
            }
        }
        condemned
    }
}

/// Lists the images of one backend's engine, or of all that answer.
pub async fn images(backends: &Backends, wanted: Option<&str>) -> Result<Vec<Image>> {
    let mut found = Vec::new();
    for (engine, store) in stores(backends, wanted).await? {
        found.extend(store.images().await?.iter().map(|image| shown(&engine, image)));
    }
    Ok(found)
}

/// Removes the images selected by the policy, except those in use; or only lists them.
pub async fn prune(
    backends: &Backends,
    wanted: Option<&str>,
    policy: Policy,
    mode: SweepMode,
) -> Result<Vec<Image>> {
    let mut gone = Vec::new();
    for (engine, store) in stores(backends, wanted).await? {
        let stored = store.images().await?;
        let images: Vec<Image> = stored.iter().map(|image| shown(&engine, image)).collect();
        for image in policy.condemned(&images) {
            let Some(stored) = stored.iter().find(|stored| stored.id == image.id) else { continue };
            if store.is_used(stored).await? {
                continue;
            }
            if mode == SweepMode::Look || store.remove(stored).await? {
                gone.push(image.clone());
            }
        }
    }
    Ok(gone)
}

/// A pulled image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pulled {
    /// The engine it is on.
    pub engine: String,
    /// Its name with the registry's digest, if the engine knows it.
    pub digest: Option<String>,
}

/// Pulls an image to one backend's engine, or to the first that answers.
pub async fn pull(
    backends: &Backends,
    wanted: Option<&str>,
    image: &str,
    progress: &Progress,
) -> Result<Pulled> {
    let (engine, store) = stores(backends, wanted).await?.swap_remove(0);
    let digest = store.pull(image, progress).await?;
    Ok(Pulled { engine, digest })
}

/// Returns the registry digests of these images, according to the first engine that answers.
///
/// # Errors
///
/// Fails with the reason of the most preferred backend if no engine answers.
pub async fn digests(backends: &Backends, images: &BTreeSet<String>) -> Result<BTreeMap<String, String>> {
    let mut missing = None;
    for (_, engines) in backends.engines() {
        match engines.images().await {
            Ok(store) => return store.digests(images).await,
            Err(error) if matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Unsupported) => {
                missing = missing.or(Some(error));
            }
            Err(error) => return Err(error),
        }
    }
    Err(missing.unwrap_or_else(none_answers))
}

/// The images of each backend's engine, or of the wanted one. At least one, or an error; for a named engine, its own
/// error.
async fn stores(backends: &Backends, wanted: Option<&str>) -> Result<Vec<(String, Box<dyn ImageStore>)>> {
    let wanted = wanted.map(|name| backends.canonical(name));
    let (mut found, mut failed) = (Vec::new(), None);
    for (name, engines) in backends.engines().filter(|(name, _)| wanted.is_none_or(|wanted| wanted == *name))
    {
        match engines.images().await {
            Ok(store) => found.push((name.to_owned(), store)),
            Err(error) => failed = Some(error),
        }
    }
    match (found.is_empty(), wanted, failed) {
        (false, ..) => Ok(found),
        (true, Some(_), Some(why)) => Err(why),
        (true, ..) => Err(none_answers()),
    }
}

fn none_answers() -> Error {
    Error::new(ErrorKind::Unavailable, "images", "no engine answers that could have images")
        .with_remedy(Operation::Diagnose)
}

fn shown(engine: &str, image: &StoredImage) -> Image {
    Image {
        engine: engine.to_owned(),
        id: image.id.clone(),
        names: image.names.clone(),
        age_s: Moment(image.made.saturating_mul(1000)).age().as_secs(),
        size_bytes: image.size,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(id: &str, age_s: u64, size_bytes: u64) -> Image {
        Image { engine: "docker".into(), id: id.into(), names: Vec::new(), age_s, size_bytes }
    }

    fn condemned(policy: Policy) -> String {
        let images = [image("a", 10, 5), image("b", 30, 5), image("c", 20, 5)];
        policy.condemned(&images).iter().map(|image| image.id.as_str()).collect()
    }

    /// R76
    #[test]
    fn the_old_and_the_many_go() {
        let nothing = Policy { older_than: None, keep_bytes: None };
        assert_eq!(condemned(nothing), "");
        assert_eq!(condemned(Policy { older_than: Some(Duration::from_secs(15)), ..nothing }), "bc");
        assert_eq!(condemned(Policy { keep_bytes: Some(10), ..nothing }), "b");
        assert_eq!(condemned(Policy { keep_bytes: Some(0), ..nothing }), "bca");
        let both = Policy { older_than: Some(Duration::from_secs(25)), keep_bytes: Some(10) };
        assert_eq!(condemned(both), "b", "old images count as gone");
    }
}
