//! Images: inspect, import, pull and remove.

use std::collections::HashMap;
use std::time::Duration;

use bollard::models::{CreateImageInfo, ImageInspect, ImageSummary};
use bollard::query_parameters::{
    CreateImageOptionsBuilder, ListImagesOptionsBuilder, RemoveImageOptions, TagImageOptionsBuilder,
};
use bytes::Bytes;
use exec_cell::{ImageStep, Progress, PullStep};
use exec_core::{Change, Error, ErrorKind, Remedy, Result};
use futures_util::StreamExt;

use super::{Engine, error, is_conflict, is_not_found};

/// A pull without any progress for this long has stalled.
const STALL_LIMIT: Duration = Duration::from_secs(120);

/// The facts about an image that matter here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ImageFacts {
    pub(crate) id: String,
    /// The name with the registry's digest, if it came from a registry.
    pub(crate) digest: Option<String>,
    pub(crate) env: Vec<String>,
    /// Directories for which it declares volumes.
    pub(crate) volumes: Vec<String>,
    pub(crate) architecture: Option<String>,
    /// It has a health check.
    pub(crate) checks_health: bool,
}

impl Engine {
    /// The image of this name, if the engine has it.
    pub(crate) async fn image(&self, name: &str) -> Result<Option<ImageFacts>> {
        match self.bounded(self.patience.ask, "inspect image", name, self.docker.inspect_image(name)).await {
            Ok(image) => Ok(Some(facts(image))),
            Err(error) if is_not_found(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Imports a file system as an image and names it. The name is set by the id: Podman drops half of a name given
    /// at import.
    pub(crate) async fn import(
        &self,
        root_fs: Vec<u8>,
        repository: &str,
        tag: &str,
        label: &str,
    ) -> Result<()> {
        let options =
            CreateImageOptionsBuilder::default().from_src("-").changes(vec![label.to_owned()]).build();
        let body = bollard::body_full(Bytes::from(root_fs));
        let mut steps = Box::pin(self.docker.create_image(Some(options), Some(body), None));
        let object = format!("{repository}:{tag}");
        let mut id = None;
        while let Some(step) = self.next_step(self.patience.make, "import image", &object, &mut steps).await?
        {
            tracing::trace!(?step, "import");
            id = step.status.filter(|status| status.starts_with("sha256:")).or(id);
        }
        let id = id.ok_or_else(|| {
            Error::new(
                ErrorKind::Engine,
                "make image",
                format!("the engine did not say what became of {object}"),
            )
            .with_backend(self.backend())
            .with_remedy(Remedy::engine("see the engine's log"))
        })?;
        let name = TagImageOptionsBuilder::default().repo(repository).tag(tag).build();
        self.bounded(self.patience.ask, "tag image", &object, self.docker.tag_image(&id, Some(name))).await
    }

    /// Pulls an image from its registry.
    pub(crate) async fn pull(&self, name: &str, progress: &Progress) -> Result<()> {
        let options = CreateImageOptionsBuilder::default().from_image(with_tag(name).as_str()).build();
        let mut steps = Box::pin(self.docker.create_image(Some(options), None, None));
        loop {
            match self.next_step(STALL_LIMIT, "pull image", name, &mut steps).await {
                Ok(Some(step)) => progress.tell(ImageStep::Pull(shown(step))),
                Ok(None) => return Ok(()),
                Err(error) => return Err(not_pulled(self.backend(), name, error)),
            }
        }
    }

    /// Lists images with this label.
    pub(crate) async fn labelled_images(&self, label: &str) -> Result<Vec<ImageSummary>> {
        let filters = HashMap::from([("label".to_owned(), vec![label.to_owned()])]);
        let options = ListImagesOptionsBuilder::default().filters(&filters).build();
        let found = self.docker.list_images(Some(options));
        self.bounded(self.patience.ask, "list", "images", found).await
    }

    /// Removes an unused image; returns `false` if it is in use. An image that does not exist is not an error.
    pub(crate) async fn remove_image(&self, id: &str) -> Result<bool> {
        let removed = self.docker.remove_image(id, None::<RemoveImageOptions>, None);
        match self.bounded(self.patience.make, "remove image", id, removed).await {
            Ok(_) => Ok(true),
            Err(error) if is_not_found(&error) => Ok(true),
            Err(error) if is_conflict(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn next_step(
        &self,
        limit: Duration,
        verb: &'static str,
        object: &str,
        steps: &mut (impl futures_util::Stream<Item = Result<CreateImageInfo, bollard::errors::Error>> + Unpin),
    ) -> Result<Option<CreateImageInfo>> {
        match tokio::time::timeout(limit, steps.next()).await {
            Err(_) => {
                Err(error::no_answer(self.backend(), verb, object)
                    .with_context("waited", format!("{limit:?}")))
            }
            Ok(None) => Ok(None),
            Ok(Some(Ok(step))) => Ok(Some(step)),
            Ok(Some(Err(why))) => Err(error::explain(self.backend(), verb, object, why)),
        }
    }
}

fn facts(image: ImageInspect) -> ImageFacts {
    let config = image.config.unwrap_or_default();
    ImageFacts {
        id: image.id.unwrap_or_default(),
        checks_health: config.healthcheck.is_some(),
        digest: image.repo_digests.unwrap_or_default().into_iter().next(),
        env: config.env.unwrap_or_default(),
        volumes: config.volumes.unwrap_or_default(),
        architecture: image.architecture,
    }
}

/// Without a tag, the engine would pull all tags.
fn with_tag(name: &str) -> String {
    let last = name.rsplit('/').next().unwrap_or(name);
    if last.contains([':', '@']) { name.to_owned() } else { format!("{name}:latest") }
}

fn shown(step: CreateImageInfo) -> PullStep {
    let bytes = step.progress_detail.and_then(|detail| Some((detail.current?, detail.total?)));
    PullStep { layer: step.id, status: step.status.unwrap_or_default(), bytes }
}

/// Whatever the registry reports, for the caller the image is not available.
fn not_pulled(backend: &str, name: &str, why: Error) -> Error {
    Error::new(
        ErrorKind::ImageNotFound,
        "pull",
        format!("the image `{name}` is not here and can't be pulled"),
    )
    .with_backend(backend)
    .with_source(why)
    .with_remedy(
        Remedy::engine(format!("check its name and your network or login (`{backend} pull`)"))
            .or(Remedy::engine("build it"))
            .or(Change::leave_out("image").with_purpose("to use this machine's own programs")),
    )
}

/// Labels in the form an import takes.
pub(crate) fn label_change(labels: &HashMap<String, String>) -> String {
    let mut pairs: Vec<String> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    pairs.sort();
    format!("LABEL {}", pairs.join(" "))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("debian", "debian:latest")]
    #[case("debian:12", "debian:12")]
    #[case("localhost:5000/x", "localhost:5000/x:latest")]
    #[case("x@sha256:00", "x@sha256:00")]
    fn one_tag_is_pulled(#[case] name: &str, #[case] pulled: &str) {
        assert_eq!(with_tag(name), pulled);
    }
}
