//! A project's Dockerfile, and the name of what comes of it.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use exec_core::{Error, ErrorKind, Result};
use tempfile::TempDir;

use super::REPOSITORY;
use super::inputs::{Ignored, Inputs};
use super::instructions::sources;

/// The image to work in comes before the application's.
const NAMES: [&str; 2] = ["Dockerfile.dev", "Dockerfile"];
const IGNORE: &str = ".dockerignore";
/// A Dockerfile is a few pages.
const LONGEST: u64 = 1 << 20;

/// The Dockerfile that is built for this workspace, if it has one.
pub(crate) fn dockerfile(workspace: &Path) -> Option<PathBuf> {
    NAMES.iter().map(|name| workspace.join(name)).find(|path| path.symlink_metadata().is_ok())
}

/// What is built, as it was when it was looked at.
#[derive(Debug)]
pub(super) struct Recipe {
    pub(super) path: PathBuf,
    text: Vec<u8>,
    ignore: Option<Vec<u8>>,
    number: String,
}

impl Recipe {
    pub(super) fn read(workspace: &Path) -> Result<Self> {
        let Some(path) = dockerfile(workspace) else { return Err(none(workspace)) };
        let failed = |error: io::Error| unusable(&path, error);
        let text = contents(&path).map_err(failed)?;
        let ignore = workspace.join(IGNORE);
        let ignore = match ignore.symlink_metadata() {
            Ok(_) => Some(contents(&ignore).map_err(|error| unusable(&ignore, error))?),
            Err(_) => None,
        };
        let mut inputs = Inputs::new();
        inputs.add("Dockerfile", &text);
        inputs.add(IGNORE, ignore.as_deref().unwrap_or_default());
        let ignored = Ignored::of(&String::from_utf8_lossy(ignore.as_deref().unwrap_or_default()));
        inputs.add_sources(workspace, &sources(&String::from_utf8_lossy(&text)), &ignored).map_err(failed)?;
        Ok(Self { path, text, ignore, number: inputs.finish() })
    }

    /// What its image is called.
    pub(super) fn name(&self) -> String {
        format!("{REPOSITORY}:{}", self.number)
    }

    /// Where nobody changes it between the look and the build.
    pub(super) fn copy(&self) -> Result<Copied> {
        let copy = || {
            let directory = tempfile::tempdir()?;
            fs::write(directory.path().join("Dockerfile"), &self.text)?;
            // Builders look for it beside the Dockerfile, under this name.
            let ignore = directory.path().join("Dockerfile.dockerignore");
            fs::write(&ignore, self.ignore.as_deref().unwrap_or_default())?;
            Ok(Copied { directory })
        };
        copy().map_err(|error| unusable(&self.path, error))
    }
}

/// A recipe in a directory of ours, which goes with it.
#[derive(Debug)]
pub(super) struct Copied {
    directory: TempDir,
}

impl Copied {
    pub(super) fn dockerfile(&self) -> PathBuf {
        self.directory.path().join("Dockerfile")
    }

    pub(super) fn ignore(&self) -> PathBuf {
        self.directory.path().join("Dockerfile.dockerignore")
    }
}

/// A file of the project itself: a link may lead to what is nobody's business here.
fn contents(path: &Path) -> io::Result<Vec<u8>> {
    let kind = fs::symlink_metadata(path)?;
    if !kind.is_file() {
        return Err(io::Error::other("it is a link, or no file"));
    }
    if kind.len() > LONGEST {
        return Err(io::Error::other("it is too long"));
    }
    let mut text = Vec::new();
    File::open(path)?.take(LONGEST).read_to_end(&mut text)?;
    Ok(text)
}

fn none(workspace: &Path) -> Error {
    Error::new(
        ErrorKind::InvalidInput,
        "build",
        format!("there is no Dockerfile in {} to build an image from", workspace.display()),
    )
    .with_remedy("write one with `agentctl bootstrap-docker`, or name an image")
}

fn unusable(path: &Path, error: io::Error) -> Error {
    Error::new(ErrorKind::InvalidInput, "build", format!("an image can't be built from {}", path.display()))
        .with_source(error)
        .with_remedy("change that, or build the image yourself and name it with --image")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R76
    #[test]
    fn the_image_to_work_in_comes_first() {
        let project = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| fs::write(project.path().join(name), text).unwrap();
        let error = Recipe::read(project.path()).unwrap_err();
        assert!(error.remedy().unwrap().contains("bootstrap-docker"), "{error}");
        put("Dockerfile", "FROM a\n");
        let app = Recipe::read(project.path()).unwrap();
        put("Dockerfile.dev", "FROM b\n");
        let dev = Recipe::read(project.path()).unwrap();
        assert_eq!(dev.path.file_name().unwrap(), "Dockerfile.dev");
        assert_ne!(app.name(), dev.name());
    }

    /// A3
    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed() {
        let project = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/etc/hostname", project.path().join("Dockerfile")).unwrap();
        assert!(Recipe::read(project.path()).is_err());
    }
}
