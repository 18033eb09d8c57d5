//! The generated files on disk: whether they are as they should be, and making them so.

use std::fs;
use std::io;
use std::path::Path;

use exec_core::{Error, ErrorKind, Result};

use crate::header::{self, Standing};
use crate::plan::{Plan, Wishes};

/// What the image is built from.
pub const DOCKERFILE: &str = "Dockerfile";
/// What a build does not see.
pub const DOCKERIGNORE: &str = ".dockerignore";

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

/// What the files in this directory were made with; the default where there are none of ours.
pub fn wishes(root: &Path) -> Result<Wishes> {
    Ok(text(root, DOCKERFILE)?.map_or_else(Wishes::default, |text| header::wishes(&text)))
}

/// How the files on disk stand to the plan.
pub fn check(root: &Path, plan: &Plan) -> Result<[(&'static str, Standing); 2]> {
    let standing = |name, wanted: &str| Ok((name, Standing::of(text(root, name)?.as_deref(), wanted)));
    Ok([standing(DOCKERFILE, &plan.dockerfile())?, standing(DOCKERIGNORE, &plan.dockerignore())?])
}

/// Writes both files. A Dockerfile that somebody wrote is an error unless it may be replaced, and then nothing is
/// written; a `.dockerignore` that somebody wrote just stays.
pub fn write(root: &Path, plan: &Plan, existing: Existing) -> Result<Vec<(&'static str, Outcome)>> {
    let standings = check(root, plan)?;
    let keep = existing == Existing::Keep;
    if keep && standings.contains(&(DOCKERFILE, Standing::HandWritten)) {
        let what = format!("{} was not generated, and stays as it is", root.join(DOCKERFILE).display());
        return Err(Error::new(ErrorKind::InvalidInput, "bootstrap", what)
            .with_remedy("print the generated one with --stdout, or replace yours with --force"));
    }
    let mut outcomes = Vec::new();
    for (name, standing) in standings {
        let outcome = match standing {
            Standing::Current => Outcome::Unchanged,
            Standing::HandWritten if keep => Outcome::Kept,
            _ => {
                let wanted = if name == DOCKERFILE { plan.dockerfile() } else { plan.dockerignore() };
                replace(root, name, &wanted).map_err(|error| failed("write", &root.join(name), error))?;
                Outcome::Written
            }
        };
        outcomes.push((name, outcome));
    }
    Ok(outcomes)
}

fn text(root: &Path, name: &str) -> Result<Option<String>> {
    let path = root.join(name);
    // Reading a pipe would never end.
    let is_file =
        |kind: fs::Metadata| if kind.is_file() { Ok(()) } else { Err(io::Error::other("it is not a file")) };
    match fs::metadata(&path).and_then(is_file).and_then(|()| fs::read(&path)) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed("read", &path, error)),
    }
}

/// As a whole or not at all; a link is replaced, not followed.
fn replace(root: &Path, name: &str, text: &str) -> io::Result<()> {
    let draft = root.join(format!("{name}.{}.new", std::process::id()));
    let written = fs::write(&draft, text).and_then(|()| fs::rename(&draft, root.join(name)));
    if written.is_err() {
        // The error says enough; what is left of a draft is no harm.
        let _ = fs::remove_file(&draft);
    }
    written
}

fn failed(verb: &str, path: &Path, error: io::Error) -> Error {
    Error::new(ErrorKind::Io, "bootstrap", format!("can't {verb} {}", path.display()))
        .with_source(error)
        .with_remedy("check who owns it, or print the files with --stdout")
}
