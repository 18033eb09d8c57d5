//! The engine's CLI: finds an installed one that can build, and composes its command line.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use exec_core::{Error, ErrorKind, Remedy, Result, SearchPath};

use super::recipe::Copied;
use crate::engine::labels;
use crate::{Endpoint, Product};

/// From this version on, the `docker` CLI needs buildx to build.
const WITH_BUILDX: u32 = 23;

/// A CLI that can build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Program {
    pub(super) path: PathBuf,
    product: Product,
}

/// The first on the search path that can build. Programs in the workspace, or leading into it, are skipped: a
/// command may have written them.
pub(super) fn find(product: Product, workspace: &Path) -> Result<Program> {
    let lies_inside = |path: &Path| path.starts_with(workspace);
    let outside = |program: &PathBuf| {
        !lies_inside(program) && program.canonicalize().is_ok_and(|real| !lies_inside(&real))
    };
    let mut programs = SearchPath::here().find_all(product.name()).filter(outside);
    let found = programs.find(|path| builds(path, product));
    found.map(|path| Program { path, product }).ok_or_else(|| missing(product))
}

fn builds(program: &Path, product: Product) -> bool {
    match product {
        Product::Podman => asked(program, &["--version"]).is_some(),
        Product::Docker => asked(program, &["--version"])
            .and_then(|said| major(&said))
            .is_some_and(|major| major < WITH_BUILDX || asked(program, &["buildx", "version"]).is_some()),
    }
}

/// The output of a program, if it succeeds.
fn asked(program: &Path, question: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    command.args(question).current_dir("/").env("PATH", SearchPath::here().as_os_str());
    command.stdin(Stdio::null()).stderr(Stdio::null());
    let output = command.output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The major version in `Docker version 28.2.2, build e6534b4`.
fn major(said: &str) -> Option<u32> {
    said.split_whitespace().find_map(|word| word.split('.').next()?.parse().ok())
}

fn missing(product: Product) -> Error {
    let (what, remedy) = match product {
        Product::Docker => (
            "no `docker` on the search path can build with BuildKit",
            "install Docker's buildx plugin (docker-buildx-plugin, docker-buildx), or build the image elsewhere and name it",
        ),
        Product::Podman => ("there is no `podman` on the search path to build with", "install it"),
    };
    Error::new(ErrorKind::Unavailable, "build", what).with_remedy(Remedy::engine(remedy))
}

impl Program {
    pub(super) fn arguments(&self, endpoint: &Endpoint, recipe: &Copied, name: &str) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = Vec::new();
        if self.product == Product::Podman {
            // Uses the service's storage and runtime, which may differ from the CLI's own.
            arguments.extend(["--remote".into(), "--url".into(), endpoint.to_string().into()]);
        }
        arguments.push("build".into());
        match self.product {
            Product::Docker => arguments.push("--progress=plain".into()),
            Product::Podman => arguments.extend(["--ignorefile".into(), recipe.ignore().into()]),
        }
        for (label, value) in labels::of_ours() {
            arguments.extend(["--label".into(), format!("{label}={value}").into()]);
        }
        arguments.extend(["--tag".into(), name.into(), "--file".into()]);
        arguments.push(recipe.dockerfile(self.product).into());
        arguments.push(recipe.context().into());
        arguments
    }

    /// Sets its environment: the caller's, except for the choice of the engine.
    pub(super) fn prepare(&self, command: &mut Command, endpoint: &Endpoint) {
        for name in ["DOCKER_CONTEXT", "BUILDX_BUILDER", "CONTAINER_HOST", "CONTAINER_CONNECTION"] {
            command.env_remove(name);
        }
        command.env("PATH", SearchPath::here().as_os_str());
        if self.product == Product::Docker {
            command.env("DOCKER_HOST", endpoint.to_string()).env("DOCKER_BUILDKIT", "1");
        }
        command.current_dir("/");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        assert_eq!(major("Docker version 28.2.2, build e6534b4"), Some(28));
        assert_eq!(major("Docker version 20.10.24+dfsg1, build 297e128"), Some(20));
        assert_eq!(major("nonsense"), None);
    }
}
