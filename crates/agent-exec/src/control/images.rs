//! Images that we made: which there are, and which have to go. The decision is pure.

use std::time::Duration;

use exec_container::{Depot, Endpoint, ImageStep, Patience, StoredImage};
use exec_core::{Error, ErrorKind, Result};
use exec_watch::Moment;
use serde::Serialize;

use super::engines::usual_places;

/// An image on an engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Image {
    /// The engine it is on: `docker` or `podman`.
    pub engine: String,
    /// The engine's name for it.
    pub id: String,
    /// What people call it.
    pub names: Vec<String>,
    /// How old it is, in seconds.
    pub age_s: u64,
    /// Its size in bytes.
    pub size_bytes: u64,
}

/// Which images stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Older ones go.
    pub older_than: Option<Duration>,
    /// The oldest go until all together are no larger than this, for each engine.
    pub keep_bytes: Option<u64>,
}

impl Policy {
    /// Those of one engine's images that go, oldest first.
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

/// The images of one engine, or of all that answer.
pub async fn images(engine: Option<&str>) -> Result<Vec<Image>> {
    let mut found = Vec::new();
    for (name, depot) in engines(engine).await? {
        found.extend(depot.images().await?.into_iter().map(|image| shown(&name, image)));
    }
    Ok(found)
}

/// Removes what the policy says, unless something uses it; without `remove` it only says what that would be.
pub async fn prune(engine: Option<&str>, policy: Policy, mode: exec_watch::SweepMode) -> Result<Vec<Image>> {
    let mut gone = Vec::new();
    for (name, depot) in engines(engine).await? {
        let images: Vec<Image> = depot.images().await?.into_iter().map(|image| shown(&name, image)).collect();
        for image in policy.condemned(&images) {
            if mode == exec_watch::SweepMode::Look || depot.remove_image(&image.id).await? {
                gone.push(image.clone());
            }
        }
    }
    Ok(gone)
}

/// Fetches an image to one engine, or to the first that answers; says which.
pub async fn pull(
    engine: Option<&str>,
    image: &str,
    progress: &(dyn Fn(ImageStep) + Send + Sync),
) -> Result<String> {
    let mut engines = engines(engine).await?;
    let (name, depot) = engines.swap_remove(0);
    depot.pull(image, progress).await?;
    Ok(name)
}

fn shown(engine: &str, image: StoredImage) -> Image {
    Image {
        engine: engine.to_owned(),
        id: image.id,
        names: image.names,
        age_s: Moment(image.made.saturating_mul(1000)).age().as_secs(),
        size_bytes: image.size,
    }
}

/// The engines that answer, one of each make; an error if there is none.
async fn engines(wanted: Option<&str>) -> Result<Vec<(String, Depot)>> {
    let mut found: Vec<(String, Depot)> = Vec::new();
    for (endpoint, backend) in usual_places() {
        let is_wanted = wanted.is_none_or(|wanted| wanted == backend);
        if !is_wanted || found.iter().any(|(name, _)| *name == backend) {
            continue;
        }
        let Ok(parsed) = endpoint.parse::<Endpoint>() else { continue };
        if let Ok(depot) = Depot::open(&parsed, &backend, Patience::default()).await {
            found.push((backend, depot));
        }
    }
    if found.is_empty() {
        return Err(Error::new(ErrorKind::Unavailable, "images", "no engine answers that could have images")
            .with_remedy("see with `agentctl doctor` why not"));
    }
    Ok(found)
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
        assert_eq!(condemned(both), "b", "what is old counts as gone");
    }
}
