//! The files that a plan becomes.

use exec_core::printable;

use crate::plan::{Plan, Scope};
use crate::{compose, render, scripts};

/// What an image is built from.
pub const DOCKERFILE: &str = "Dockerfile";
/// What the image to develop in is built from, where there is one of the application too.
pub(crate) const DOCKERFILE_DEV: &str = "Dockerfile.dev";
/// What a build does not see.
pub const DOCKERIGNORE: &str = ".dockerignore";

/// Whether a file is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It is read.
    Text,
    /// It is run.
    Program,
}

/// A file to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// From the top of the project.
    pub path: &'static str,
    /// All of it.
    pub text: String,
    /// Whether it is run.
    pub mode: Mode,
}

pub(crate) fn of(plan: &Plan) -> Vec<File> {
    let file = |path, text: String, mode| File { path, text: printable::lines(&text).into_owned(), mode };
    let text = |path, text| file(path, text, Mode::Text);
    let first = match plan.wishes.scope {
        Scope::Image => DOCKERFILE,
        Scope::Compose => DOCKERFILE_DEV,
    };
    let mut files = vec![text(first, plan.dockerfile()), text(DOCKERIGNORE, plan.dockerignore())];
    if let Some(app) = &plan.app {
        files.push(text(DOCKERFILE, render::app(plan, app)));
        files.push(text("docker-compose.yml", compose::development(plan, app)));
        files.push(text("docker-compose.prod.yml", compose::production(plan)));
        let program = |(path, text)| file(path, text, Mode::Program);
        files.extend(scripts::all(&plan.wishes).into_iter().map(program));
    }
    files
}
