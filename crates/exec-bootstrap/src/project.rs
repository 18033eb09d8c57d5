//! A project's directory: all reads and writes go through one descriptor.

use std::io;
use std::path::{Path, PathBuf};

use exec_core::{Error, ErrorKind, Result};
use exec_files::Dir;

/// A project on disk. Commands can write there, so nothing is assumed to stay unchanged: links never lead outside,
/// and only regular files are read.
#[derive(Debug)]
pub struct Project {
    pub(crate) dir: Dir,
    /// The name it was opened by, for messages.
    name: PathBuf,
}

impl Project {
    /// Opens the project in this directory.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the directory does not exist.
    pub fn open(root: &Path) -> Result<Self> {
        let dir = root.canonicalize().and_then(|real| Dir::open(&real));
        let dir = dir.map_err(|error| no_project(root, error))?;
        Ok(Self { dir, name: root.to_owned() })
    }

    /// The path of a file as the user would name it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.name.join(name)
    }

    pub(crate) fn unreadable(&self, error: io::Error) -> Error {
        no_project(&self.name, error)
    }
}

fn no_project(root: &Path, error: io::Error) -> Error {
    Error::new(ErrorKind::InvalidInput, "bootstrap", format!("can't look into {}", root.display()))
        .with_source(error)
        .with_remedy("name the directory of a project")
}
