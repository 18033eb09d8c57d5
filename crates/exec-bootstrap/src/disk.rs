//! The generated files on disk: checking and writing them.

use std::io;
use std::path::Path;

use exec_core::{Change, Error, ErrorKind, Remedy, Result};

use crate::files::{File, Mode};
use crate::header::Standing;
use crate::plan::Plan;
use crate::project::Project;

/// Whether a hand-written file may be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// It may.
    Replace,
    /// It is kept.
    Keep,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was created or replaced.
    Written,
    /// It was up to date.
    Unchanged,
    /// It is hand-written and was kept.
    Kept,
}

/// Longer than any generated or hand-written file.
const LONGEST: u64 = 4 << 20;

/// What exists under the name of a generated file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OnDisk {
    /// Nothing.
    Missing,
    /// A file.
    Text(String),
    /// A link, a pipe, a directory or something huge: not generated, and not to be read.
    Foreign,
}

impl Project {
    /// Compares the files on disk with the plan.
    ///
    /// # Errors
    ///
    /// Fails if a file can't be read.
    pub fn check(&self, plan: &Plan) -> Result<Vec<(&'static str, Standing)>> {
        let standing = |file: File| Ok((file.path, Standing::of(&self.on_disk(file.path)?, &file.text)));
        plan.files().into_iter().map(standing).collect()
    }

    /// Writes the files. Hand-written files are kept unless `existing` allows replacing them.
    ///
    /// # Errors
    ///
    /// Fails if the development image's Dockerfile is hand-written and kept (then nothing is written), or if a file
    /// can't be read or written.
    pub fn write(&self, plan: &Plan, existing: Existing) -> Result<Vec<(&'static str, Outcome)>> {
        let standings = self.check(plan)?;
        let keep = existing == Existing::Keep;
        if let Some((name, Standing::HandWritten)) = standings.first().filter(|_| keep) {
            let what = format!("{} was not generated, and stays as it is", self.path(name).display());
            return Err(Error::new(ErrorKind::InvalidInput, "bootstrap", what).with_remedy(
                Remedy::from(Change::give("stdout").with_purpose("to print the generated one"))
                    .or(Change::give("force").with_purpose("to replace yours")),
            ));
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

    /// Replaces the file atomically; a link is replaced, not followed.
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
        .with_remedy(
            Remedy::host("check who owns it").or(Change::give("stdout").with_purpose("to print the files")),
        )
}
