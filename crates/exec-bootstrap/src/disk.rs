//! The generated files on disk: whether they are as they should be, and making them so.

use std::io;
use std::path::Path;

use exec_core::{Error, ErrorKind, Result};

use crate::files::{File, Mode};
use crate::header::Standing;
use crate::plan::Plan;
use crate::project::Project;

/// Whether a file that somebody wrote may be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// It may.
    Replace,
    /// It stays.
    Keep,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It is new, or was replaced.
    Written,
    /// It was already so.
    Unchanged,
    /// Somebody wrote it, and it stays.
    Kept,
}

/// More than any file of ours has, and more than a person writes.
const LONGEST: u64 = 4 << 20;

/// What is found under the name of a file of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OnDisk {
    /// Nothing.
    Missing,
    /// A file.
    Text(String),
    /// A link, a pipe, a directory, something huge: not ours, and not to be read.
    Foreign,
}

impl Project {
    /// How the files on disk stand to the plan.
    ///
    /// # Errors
    ///
    /// Where a file can't be read.
    pub fn check(&self, plan: &Plan) -> Result<Vec<(&'static str, Standing)>> {
        let standing = |file: File| Ok((file.path, Standing::of(&self.on_disk(file.path)?, &file.text)));
        plan.files().into_iter().map(standing).collect()
    }

    /// Writes the files. What somebody wrote stays unless it may be replaced; where that is the Dockerfile of the image itself
    /// it is an error, and then nothing is written.
    ///
    /// # Errors
    ///
    /// That one, and where a file can't be read or written.
    pub fn write(&self, plan: &Plan, existing: Existing) -> Result<Vec<(&'static str, Outcome)>> {
        let standings = self.check(plan)?;
        let keep = existing == Existing::Keep;
        if let Some((name, Standing::HandWritten)) = standings.first().filter(|_| keep) {
            let what = format!("{} was not generated, and stays as it is", self.path(name).display());
            return Err(Error::new(ErrorKind::InvalidInput, "bootstrap", what)
                .with_remedy("print the generated one with --stdout, or replace yours with --force"));
        }
        let mut outcomes = Vec::new();
        for ((name, standing), file) in standings.into_iter().zip(plan.files()) {
            let outcome = match standing {
                Standing::Current => Outcome::Unchanged,
                Standing::HandWritten if keep => Outcome::Kept,
                _ => {
                    self.replace(&file).map_err(|error| failed("write", &self.path(name), error))?;
                    Outcome::Written
                }
            };
            outcomes.push((name, outcome));
        }
        Ok(outcomes)
    }

    pub(crate) fn on_disk(&self, name: &str) -> Result<OnDisk> {
        match self.dir.read(name, LONGEST) {
            Ok(bytes) => Ok(OnDisk::Text(String::from_utf8_lossy(&bytes).into_owned())),
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound => Ok(OnDisk::Missing),
                io::ErrorKind::InvalidInput | io::ErrorKind::FileTooLarge => Ok(OnDisk::Foreign),
                _ => Err(failed("read", &self.path(name), error)),
            },
        }
    }

    /// As a whole or not at all; a link is replaced, not followed.
    fn replace(&self, file: &File) -> io::Result<()> {
        if let Some((place, _)) = file.path.rsplit_once('/') {
            match self.dir.make_dir(place, 0o777) {
                // Anything but a directory is refused below.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => made?,
            }
        }
        let mode = match file.mode {
            Mode::Text => 0o666,
            Mode::Program => 0o777,
        };
        self.dir.replace(file.path, mode, file.text.as_bytes())
    }
}

fn failed(verb: &str, path: &Path, error: io::Error) -> Error {
    Error::new(ErrorKind::Io, "bootstrap", format!("can't {verb} {}", path.display()))
        .with_source(error)
        .with_remedy("check who owns it, or print the files with --stdout")
}
