//! The images on an engine.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use exec_cell::{ImageStore, Progress, StoredImage};
use exec_core::Result;

use super::{EngineInventory, digests};
use crate::engine::Used;
use crate::engine::labels;
use crate::image::is_name_of_ours;

#[async_trait]
impl ImageStore for EngineInventory {
    /// An image based on one of ours inherits its label, so images with a foreign name are left out.
    async fn images(&self) -> Result<Vec<StoredImage>> {
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

    async fn is_used(&self, image: &StoredImage) -> Result<bool> {
        Ok(!self.engine.users(Used::Image(&image.id)).await?.is_empty())
    }

    async fn remove(&self, image: &StoredImage) -> Result<bool> {
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

    async fn pull(&self, name: &str, progress: &Progress) -> Result<Option<String>> {
        self.engine.pull(name, progress).await?;
        let image = self.engine.image(name).await?;
        Ok(image.and_then(|image| image.digest))
    }

    async fn digests(&self, images: &BTreeSet<String>) -> Result<BTreeMap<String, String>> {
        digests::digests(&self.engine, self.dialect, images).await
    }
}
