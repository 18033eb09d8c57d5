//! The generated files on disk: whether they are as they should be, and making them so.

use std::fs;
use std::io;
use std::path::Path;

use exec_core::{Error, ErrorKind, Result};

use crate::files::{DOCKERFILE, DOCKERFILE_DEV, File, Mode};
use crate::header::{self, Standing};
use crate::plan::{Plan, Wishes};

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
    let of = |name| Ok(text(root, name)?.as_deref().and_then(header::wishes));
    // Where there is an image to develop in beside the application's, both say the same; either may be somebody's own.
    let (dev, app): (Option<Wishes>, Option<Wishes>) = (of(DOCKERFILE_DEV)?, of(DOCKERFILE)?);
    let mut wishes = dev.clone().or_else(|| app.clone()).unwrap_or_default();
    if let Some(digests) = &mut wishes.digests {
        digests.extend(app.and_then(|app| app.digests).unwrap_or_default());
    }
    Ok(wishes)
}

/// How the files on disk stand to the plan.
pub fn check(root: &Path, plan: &Plan) -> Result<Vec<(&'static str, Standing)>> {
    let standing = |file: File| Ok((file.path, Standing::of(text(root, file.path)?.as_deref(), &file.text)));
    plan.files().into_iter().map(standing).collect()
}

/// Writes the files. What somebody wrote stays unless it may be replaced; where that is the Dockerfile of the image itself it
/// is an error, and then nothing is written.
pub fn write(root: &Path, plan: &Plan, existing: Existing) -> Result<Vec<(&'static str, Outcome)>> {
    let standings = check(root, plan)?;
    let keep = existing == Existing::Keep;
    if let Some((name, Standing::HandWritten)) = standings.first().filter(|_| keep) {
        let what = format!("{} was not generated, and stays as it is", root.join(name).display());
        return Err(Error::new(ErrorKind::InvalidInput, "bootstrap", what)
            .with_remedy("print the generated one with --stdout, or replace yours with --force"));
    }
    let mut outcomes = Vec::new();
    for ((name, standing), file) in standings.into_iter().zip(plan.files()) {
        let outcome = match standing {
            Standing::Current => Outcome::Unchanged,
            Standing::HandWritten if keep => Outcome::Kept,
            _ => {
                replace(root, &file).map_err(|error| failed("write", &root.join(name), error))?;
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
fn replace(root: &Path, file: &File) -> io::Result<()> {
    let path = root.join(file.path);
    let draft = root.join(format!("{}.{}.new", file.path, std::process::id()));
    let written = make_place(root, file.path)
        .and_then(|()| fs::write(&draft, &file.text))
        .and_then(|()| make_runnable(&draft, file.mode))
        .and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        // The error says enough; what is left of a draft is no harm.
        let _ = fs::remove_file(&draft);
    }
    written
}

/// The directory of a file, which must be one of the project.
fn make_place(root: &Path, path: &str) -> io::Result<()> {
    let Some((place, _)) = path.rsplit_once('/') else { return Ok(()) };
    let place = root.join(place);
    match fs::symlink_metadata(&place) {
        Ok(kind) if kind.is_dir() => Ok(()),
        Ok(_) => Err(io::Error::other("its directory is a link or a file")),
        Err(_) => fs::create_dir(place),
    }
}

#[cfg(unix)]
fn make_runnable(path: &Path, mode: Mode) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    match mode {
        Mode::Text => Ok(()),
        Mode::Program => fs::set_permissions(path, fs::Permissions::from_mode(0o755)),
    }
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "the same call as where files can be programs")]
fn make_runnable(_: &Path, _: Mode) -> io::Result<()> {
    Ok(())
}

fn failed(verb: &str, path: &Path, error: io::Error) -> Error {
    Error::new(ErrorKind::Io, "bootstrap", format!("can't {verb} {}", path.display()))
        .with_source(error)
        .with_remedy("check who owns it, or print the files with --stdout")
}
