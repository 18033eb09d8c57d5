//! A project's Dockerfile, and the name of its image.

use std::io;
use std::path::{Path, PathBuf};

use exec_core::{Change, Error, ErrorKind, Operation, Remedy, Result};
use exec_files::{Dir, Sharing};

use super::inputs::{Ignored, Inputs};
use super::instructions::{Sources, sources};
use super::{REPOSITORY, snapshot};
use crate::Product;
use crate::host::cache;

/// The development image comes before the application's.
const NAMES: [&str; 2] = ["Dockerfile.dev", "Dockerfile"];
const IGNORE: &str = ".dockerignore";
/// The ignore file next to a Dockerfile, which builders prefer.
const BESIDE: &str = "Dockerfile.dockerignore";
/// The largest Dockerfile that is read.
const LONGEST: u64 = 1 << 20;

/// The Dockerfile of this workspace, if it has one.
pub(crate) fn dockerfile(workspace: &Path) -> Option<PathBuf> {
    let root = Dir::open(workspace).ok()?;
    dockerfile_in(&root).map(|name| workspace.join(name))
}

/// Any existing entry counts, so that an unreadable one is not skipped for the next name.
fn dockerfile_in(root: &Dir) -> Option<&'static str> {
    let is_there =
        |name: &&str| !root.metadata(name).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    NAMES.into_iter().find(is_there)
}

/// A project's build inputs at the time they were read.
#[derive(Debug, Clone)]
pub(super) struct Recipe {
    pub(super) path: PathBuf,
    name: &'static str,
    text: Vec<u8>,
    ignore: Option<Vec<u8>>,
    /// The files that are hashed and copied.
    sources: Sources,
    /// The files that are not.
    ignored: Ignored,
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
        let sources = sources(&String::from_utf8_lossy(&text));
        let ignored = Ignored::of(&String::from_utf8_lossy(ignore.as_deref().unwrap_or_default()));
        let ignored = if sources.name_repository() { ignored } else { ignored.and_repositories() };
        inputs.add_sources(&root, &sources, &ignored).map_err(failed)?;
        Ok(Self { path, name, text, ignore, sources, ignored, number: inputs.finish() })
    }

    /// The files that define the build.
    pub(super) fn files(&self) -> Vec<&'static str> {
        std::iter::once(self.name).chain(self.ignore.as_ref().map(|_| IGNORE)).collect()
    }

    /// The name of the image.
    pub(super) fn name(&self) -> String {
        format!("{REPOSITORY}:{}", self.number)
    }

    /// Copies the project into a directory of ours, where no command can change it between the hash and the build.
    /// No other build uses a directory of this name meanwhile; leftovers of a killed build are removed.
    pub(super) fn copy(&self, workspace: &Path, name: &str) -> Result<Copied> {
        let copy = || {
            // Not among temporary files: their directory can be a workspace, or inside one.
            let place = Copied::empty(self.name, name)?;
            let dir = place.cache.own_dir(name, Sharing::Readable)?;
            dir.create("Dockerfile", 0o600, &self.text)?;
            dir.create(BESIDE, 0o600, self.ignore.as_deref().unwrap_or_default())?;
            dir.make_dir("context", 0o700)?;
            let project = dir.dir("context")?;
            snapshot::copy(&Dir::open(workspace)?, &self.sources, &self.ignored, &project)?;
            project.replace(self.name, 0o644, &self.text)?;
            if let Some(ignore) = &self.ignore {
                project.replace(IGNORE, 0o644, ignore)?;
            }
            // The image's name identifies its inputs, in every workspace with the same files.
            if Self::read(&place.context()).map_err(io::Error::other)?.number != self.number {
                return Err(io::Error::other("it was changed while it was copied: try again"));
            }
            Ok(place)
        };
        copy().map_err(|error| unusable(&self.path, error))
    }
}

/// A copy of a recipe and its project, removed on drop.
#[derive(Debug)]
pub(super) struct Copied {
    /// The recipe's name in the project.
    recipe: &'static str,
    cache: Dir,
    /// The directory's name in the cache.
    name: String,
}

impl Copied {
    fn empty(recipe: &'static str, name: &str) -> io::Result<Self> {
        let cache = cache::open()?;
        match cache.remove_tree(name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => cache.make_dir(name, 0o700)?,
        }
        Ok(Self { recipe, cache, name: name.to_owned() })
    }

    fn path(&self) -> PathBuf {
        cache::directory().join(&self.name)
    }

    /// The build context.
    pub(super) fn context(&self) -> PathBuf {
        self.path().join("context")
    }

    /// The Dockerfile. Docker reads the ignore file next to it and prefers it to the project's. Podman packs a
    /// Dockerfile from outside the context, which must not be necessary.
    pub(super) fn dockerfile(&self, product: Product) -> PathBuf {
        match product {
            Product::Docker => self.path().join("Dockerfile"),
            Product::Podman => self.context().join(self.recipe),
        }
    }

    pub(super) fn ignore(&self) -> PathBuf {
        self.path().join(BESIDE)
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        // If this fails, the project's next build removes it.
        let _ = self.cache.remove_tree(&self.name);
    }
}

fn none(workspace: &Path) -> Error {
    Error::new(
        ErrorKind::InvalidInput,
        "build",
        format!("there is no Dockerfile in {} to build an image from", workspace.display()),
    )
    .with_remedy(Remedy::from(Operation::GenerateDockerfile).or("name an image"))
}

fn unusable(path: &Path, error: io::Error) -> Error {
    Error::new(ErrorKind::InvalidInput, "build", format!("an image can't be built from {}", path.display()))
        .with_source(error)
        .with_remedy(
            Remedy::from("change that")
                .or(Change::give("image").with_purpose("to name one that you built yourself")),
        )
}

#[cfg(test)]
mod tests {
    use std::fs;

    use exec_core::Step;

    use super::*;

    /// R76
    #[test]
    fn the_image_to_work_in_comes_first() {
        let project = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| fs::write(project.path().join(name), text).unwrap();
        let error = Recipe::read(project.path()).unwrap_err();
        assert_eq!(
            error.remedy().unwrap().steps()[0],
            Step::Operation(Operation::GenerateDockerfile),
            "{error}"
        );
        put("Dockerfile", "FROM a\n");
        let app = Recipe::read(project.path()).unwrap();
        put("Dockerfile.dev", "FROM b\n");
        let dev = Recipe::read(project.path()).unwrap();
        assert_eq!(dev.path.file_name().unwrap(), "Dockerfile.dev");
        assert_ne!(app.name(), dev.name());
    }

    /// A4, A43: later changes are not built.
    #[cfg(unix)]
    #[test]
    fn a_copy_is_what_was_looked_at() {
        let project = tempfile::tempdir().unwrap();
        let root = project.path().canonicalize().unwrap();
        let put = |name: &str, text: &str| fs::write(root.join(name), text).unwrap();
        put("Dockerfile", "FROM a\nCOPY file /\n");
        put("file", "first");
        let recipe = Recipe::read(&root).unwrap();
        let name = format!("build-test-{}", std::process::id());
        fs::create_dir_all(cache::directory().join(&name).join("context/left/behind")).unwrap();
        let copied = recipe.copy(&root, &name).unwrap();
        assert!(!copied.context().join("left").exists(), "left by a killed build");
        put("Dockerfile", "FROM b\nCOPY file /\n");
        put("file", "later");
        for product in [Product::Docker, Product::Podman] {
            assert_eq!(fs::read_to_string(copied.dockerfile(product)).unwrap(), "FROM a\nCOPY file /\n");
        }
        assert_eq!(fs::read_to_string(copied.context().join("file")).unwrap(), "first");
        drop(copied);
        let error = recipe.copy(&root, &name).unwrap_err();
        assert!(error.to_string().contains("it was changed while it was copied"), "{error}");
        assert!(!cache::directory().join(&name).exists());
    }

    /// A3, A43: neither file is followed, waited for or read without bound.
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
