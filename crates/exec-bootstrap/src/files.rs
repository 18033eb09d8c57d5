//! The files generated from a plan.

use exec_core::printable;

use crate::plan::{Plan, Scope};
use crate::{compose, render, scripts};

/// The name of the Dockerfile.
pub const DOCKERFILE: &str = "Dockerfile";
/// The Dockerfile of the development image, if the application has one too.
pub(crate) const DOCKERFILE_DEV: &str = "Dockerfile.dev";
/// Lists the files that a build must not see.
pub const DOCKERIGNORE: &str = ".dockerignore";

/// Whether a file is executable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It is read.
    Text,
    /// It is executed.
    Program,
}

/// A file to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Relative to the top of the project.
    pub path: &'static str,
    /// The complete content.
    pub text: String,
    /// Whether it is executable.
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
