//! Builds the image of the workspace's own Dockerfile, for runs that ask for it. The engine's CLI builds it
//! whenever one of its inputs has changed, one build per project at a time.
//!
//! It uses the CLI instead of the API, because a BuildKit build over the API needs a gRPC server of ours that
//! answers the engine's questions (files, credentials), and `RUN --mount` needs BuildKit. The CLI has all of it,
//! with the user's registries and proxies.

mod inputs;
mod instructions;
mod output;
mod program;
mod recipe;
mod snapshot;

use std::path::Path;

use exec_cell::{BuildStep, ImageStep, Progress};
use exec_core::{Error, ErrorKind, Result};
use sha2::{Digest, Sha256};

use crate::engine::Engine;
use crate::host::process_lock;
use crate::{Endpoint, Product};
use inputs::hex;
use recipe::{Copied, Recipe};

pub(crate) use recipe::dockerfile;

pub(super) const REPOSITORY: &str = "agentctl/project";

/// Builds images on one engine.
#[derive(Debug)]
pub(crate) struct Builder<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) endpoint: &'a Endpoint,
    pub(crate) product: Product,
    pub(crate) progress: &'a Progress,
}

impl Builder<'_> {
    /// Ensures that the image for the workspace's current state is on the engine, and returns its name.
    pub(crate) async fn image(&self, workspace: &Path) -> Result<String> {
        let failed = |error: Error| error.with_backend(self.engine.backend());
        let recipe = read(workspace).await.map_err(failed)?;
        let name = recipe.name();
        if self.has(&name).await? {
            return Ok(name);
        }
        let project = hex(&Sha256::digest(workspace.as_os_str().as_encoded_bytes()));
        let lock = format!("build-{project}");
        let _lock = process_lock::take(&lock).await.map_err(failed)?;
        // The previous holder of the lock may have built this very image, or its inputs may have changed.
        let recipe = read(workspace).await.map_err(failed)?;
        let name = recipe.name();
        if !self.has(&name).await? {
            self.build(workspace, &recipe, (&name, &lock)).await.map_err(failed)?;
        }
        Ok(name)
    }

    async fn has(&self, name: &str) -> Result<bool> {
        self.engine.image(name).await.map(|image| image.is_some())
    }

    /// Reports progress that is not a step.
    fn say(&self, what: String) {
        self.progress.tell(ImageStep::Build(BuildStep { number: 0, of: 0, what }));
    }

    /// Builds the image from a copy in the directory of this name. The lock keeps other builds out of it.
    async fn build(&self, workspace: &Path, recipe: &Recipe, (name, copy): (&str, &str)) -> Result<()> {
        tracing::info!(image = name, dockerfile = %recipe.path.display(), "building");
        self.say(format!("building {name} from {}", recipe.path.display()));
        let program = program::find(self.product, workspace)?;
        let place = copied(recipe, workspace, copy).await?;
        let arguments = program.arguments(self.endpoint, &place, name);
        let said = output::follow(&program, &arguments, self.endpoint, |step| {
            self.progress.tell(ImageStep::Build(step));
        })
        .await?;
        // Only the engine knows whether the build succeeded.
        if self.has(name).await? {
            self.say(format!("built {name}"));
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::ImageNotFound,
            "build",
            format!("the image of {} can't be built", recipe.path.display()),
        )
        .with_source(std::io::Error::other(said))
        .with_remedy(format!("see what `{} build` says there, and change the file", self.product.name())))
    }
}

/// Reads and hashes on another thread: a project may be large.
async fn read(workspace: &Path) -> Result<Recipe> {
    let workspace = workspace.to_owned();
    let look = move || {
        let recipe = Recipe::read(&workspace)?;
        exec_core::check_build_files(&workspace, &recipe.files())?;
        Ok(recipe)
    };
    tokio::task::spawn_blocking(look).await.map_err(|error| {
        Error::new(ErrorKind::Io, "build", "the project could not be looked at").with_source(error)
    })?
}

/// Copies on another thread.
async fn copied(recipe: &Recipe, workspace: &Path, copy: &str) -> Result<Copied> {
    let (recipe, workspace, copy) = (recipe.clone(), workspace.to_owned(), copy.to_owned());
    tokio::task::spawn_blocking(move || recipe.copy(&workspace, &copy)).await.map_err(|error| {
        Error::new(ErrorKind::Io, "build", "the project could not be copied").with_source(error)
    })?
}
