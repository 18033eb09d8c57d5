//! A project's Dockerfile, and the name of what comes of it.

use std::io;
use std::path::{Path, PathBuf};

use exec_core::{Error, ErrorKind, Result};
use exec_files::{Dir, Sharing, UserDirs};
use tempfile::TempDir;

use super::inputs::{Ignored, Inputs};
use super::instructions::sources;
use super::{REPOSITORY, snapshot};
use crate::Product;

/// The image to work in comes before the application's.
const NAMES: [&str; 2] = ["Dockerfile.dev", "Dockerfile"];
const IGNORE: &str = ".dockerignore";
/// A Dockerfile is a few pages.
const LONGEST: u64 = 1 << 20;

/// The Dockerfile that is built for this workspace, if it has one.
pub(crate) fn dockerfile(workspace: &Path) -> Option<PathBuf> {
    let root = Dir::open(workspace).ok()?;
    dockerfile_in(&root).map(|name| workspace.join(name))
}

/// Whatever is there has the name, so that nothing that can't be read makes us take the next one.
fn dockerfile_in(root: &Dir) -> Option<&'static str> {
    let is_there =
        |name: &&str| !root.metadata(name).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    NAMES.into_iter().find(is_there)
}

/// What is built, as it was when it was looked at.
#[derive(Debug, Clone)]
pub(super) struct Recipe {
    pub(super) path: PathBuf,
    name: &'static str,
    text: Vec<u8>,
    ignore: Option<Vec<u8>>,
    number: String,
}

impl Recipe {
    pub(super) fn read(workspace: &Path) -> Result<Self> {
        let root = Dir::open(workspace).map_err(|error| unusable(workspace, error))?;
        let Some(name) = dockerfile_in(&root) else { return Err(none(workspace)) };
        let path = workspace.join(name);
        let failed = |error: io::Error| unusable(&path, error);
        let text = root.read(name, LONGEST).map_err(failed)?;
        let ignore = match root.read(IGNORE, LONGEST) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(unusable(&workspace.join(IGNORE), error)),
        };
        let mut inputs = Inputs::new();
        inputs.add("Dockerfile", &text);
        inputs.add(IGNORE, ignore.as_deref().unwrap_or_default());
        let ignored = Ignored::by_number(&String::from_utf8_lossy(ignore.as_deref().unwrap_or_default()));
        inputs.add_sources(&root, &sources(&String::from_utf8_lossy(&text)), &ignored).map_err(failed)?;
        Ok(Self { path, name, text, ignore, number: inputs.finish() })
    }

    /// What its image is called.
    pub(super) fn name(&self) -> String {
        format!("{REPOSITORY}:{}", self.number)
    }

    /// Where no command changes it between the look and the build: the Dockerfile, and for a builder that needs it the whole
    /// project.
    pub(super) fn copy(&self, workspace: &Path, product: Product) -> Result<Copied> {
        let copy = || {
            // Directories of temporary files can be a workspace, or in one.
            let cache = UserDirs::here().cache;
            Dir::make_own(&cache, Sharing::Readable)?;
            let directory = tempfile::Builder::new().prefix("build-").tempdir_in(cache)?;
            let dir = Dir::open_own(directory.path(), Sharing::Readable)?;
            dir.create("Dockerfile", 0o600, &self.text)?;
            // Builders look for it beside the Dockerfile, under this name.
            dir.create("Dockerfile.dockerignore", 0o600, self.ignore.as_deref().unwrap_or_default())?;
            if product != Product::Podman {
                return Ok(Copied {
                    dockerfile: directory.path().join("Dockerfile"),
                    context: workspace.to_owned(),
                    directory,
                });
            }
            dir.make_dir("context", 0o700)?;
            let ignored = Ignored::of(&String::from_utf8_lossy(self.ignore.as_deref().unwrap_or_default()));
            let project = dir.dir("context")?;
            snapshot::copy(&Dir::open(workspace)?, &ignored, &project)?;
            project.replace(self.name, 0o644, &self.text)?;
            if let Some(ignore) = &self.ignore {
                project.replace(IGNORE, 0o644, ignore)?;
            }
            let context = directory.path().join("context");
            // The image's name stands for what it was built from, in every workspace with the same files.
            if Self::read(&context).map_err(io::Error::other)?.number != self.number {
                return Err(io::Error::other("it was changed while it was copied: try again"));
            }
            Ok(Copied { dockerfile: context.join(self.name), context, directory })
        };
        copy().map_err(|error| unusable(&self.path, error))
    }
}

/// A recipe in a directory of ours, which goes with it.
#[derive(Debug)]
pub(super) struct Copied {
    /// The Dockerfile.
    pub(super) dockerfile: PathBuf,
    /// The directory that it is built from.
    pub(super) context: PathBuf,
    directory: TempDir,
}

impl Copied {
    pub(super) fn ignore(&self) -> PathBuf {
        self.directory.path().join("Dockerfile.dockerignore")
    }
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
    use std::fs;

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

    /// A3, A43: neither file is followed, waited for or read without end.
    #[cfg(unix)]
    #[rstest::rstest]
    fn only_files_are_read(#[values("Dockerfile", "Dockerfile.dev", ".dockerignore")] name: &str) {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        for plant in [
            |path: &Path| std::os::unix::fs::symlink("/etc/hostname", path).unwrap(),
            |path: &Path| std::os::unix::fs::symlink("/nowhere", path).unwrap(),
            |path: &Path| mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).unwrap(),
            |path: &Path| fs::File::create(path).unwrap().set_len(10 << 30).unwrap(),
        ] {
            let project = tempfile::tempdir().unwrap();
            let root = project.path().canonicalize().unwrap();
            fs::write(root.join("Dockerfile"), "FROM a\n").unwrap();
            Recipe::read(&root).unwrap();
            let _ = fs::remove_file(root.join(name));
            plant(&root.join(name));
            let error = Recipe::read(&root).unwrap_err();
            assert!(error.to_string().contains(name), "{error}");
        }
    }
}
