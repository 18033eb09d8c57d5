//! The image of the workspace's own Dockerfile, for runs that ask for it: built when anything that goes into it has
//! changed, by the engine's own program, one at a time for a project.
//!
//! The program and not the engine's interface, because a build over that interface needs a gRPC server of ours for
//! whatever the engine wants to know meanwhile (files, credentials), and `RUN --mount` needs such a build. The program
//! has all of it, with the user's registries and proxies.

mod inputs;
mod instructions;
mod output;
mod program;
mod recipe;
mod snapshot;

use std::path::Path;

use exec_core::{Error, ErrorKind, Result};
use sha2::{Digest, Sha256};

use super::Progress;
use crate::engine::{BuildStep, Engine, ImageStep};
use crate::{Endpoint, Product, turn};
use inputs::hex;
use recipe::{Copied, Recipe};

pub(crate) use recipe::dockerfile;

pub(super) const REPOSITORY: &str = "agentctl/project";

/// Where and for whom images are built.
#[derive(Debug)]
pub(crate) struct Builder<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) endpoint: &'a Endpoint,
    pub(crate) product: Product,
    pub(crate) progress: &'a Progress,
}

impl Builder<'_> {
    /// The name of the image for the workspace as it is now; it is on the engine then.
    pub(crate) async fn image(&self, workspace: &Path) -> Result<String> {
        let failed = |error: Error| error.with_backend(self.engine.backend());
        let recipe = read(workspace).await.map_err(failed)?;
        let name = recipe.name();
        if self.has(&name).await? {
            return Ok(name);
        }
        let project = hex(&Sha256::digest(workspace.as_os_str().as_encoded_bytes()));
        let turn = format!("build-{project}");
        let _turn = turn::take(&turn).await.map_err(failed)?;
        // Whoever had the turn before may have built just this, or changed what it is made of.
        let recipe = read(workspace).await.map_err(failed)?;
        let name = recipe.name();
        if !self.has(&name).await? {
            self.build(workspace, &recipe, (&name, &turn)).await.map_err(failed)?;
        }
        Ok(name)
    }

    async fn has(&self, name: &str) -> Result<bool> {
        self.engine.image(name).await.map(|image| image.is_some())
    }

    /// Something that is no step.
    fn say(&self, what: String) {
        self.progress.tell(ImageStep::Build(BuildStep { number: 0, of: 0, what }));
    }

    /// Builds it from a copy in the directory of this name. The turn keeps other builds out of it.
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
        // What counts is what the engine has.
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

/// Reading and hashing are for another thread: a project may be large.
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

/// And so is copying.
async fn copied(recipe: &Recipe, workspace: &Path, copy: &str) -> Result<Copied> {
    let (recipe, workspace, copy) = (recipe.clone(), workspace.to_owned(), copy.to_owned());
    tokio::task::spawn_blocking(move || recipe.copy(&workspace, &copy)).await.map_err(|error| {
        Error::new(ErrorKind::Io, "build", "the project could not be copied").with_source(error)
    })?
}
