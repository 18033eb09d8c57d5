//! What a directory held before a command could write there for the first time.
//!
//! Some files of a workspace decide what the host does next: a repository's `worktrees` open that repository to another
//! workspace, a Dockerfile is built. Once a command could write a directory, the directory itself can't prove that such a
//! file is the user's own. So a note of each writable directory is taken before the first command runs there, in a
//! place that no command reaches.
//!
//! Without a note a directory is what its user made of it.

mod note;

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use exec_files::{Dir, FileKind, Sharing, UserDirs};

use super::{FileId, invalid, os};
use crate::{Error, ErrorKind, Result};
use note::Note;

/// Where notes are, below our own directories.
const DIRECTORY: &str = "first-sight";

/// A note is a path and a few words.
const LONGEST: u64 = 16 << 10;

/// Notes of directories that are gone are looked for whenever this many more have been taken.
const PRUNE_EVERY: usize = 64;

/// The most notes that are looked through at once.
const MOST: usize = 100_000;

/// Notes of one user.
#[derive(Debug)]
struct Notes {
    /// Where they can be: what outlives a restart first, then the records' place for users without a home.
    places: Vec<PathBuf>,
    /// What this process has noted, so that a run in a warm cell costs one look.
    taken: Mutex<HashSet<(PathBuf, FileId)>>,
}

/// Takes a note of a directory that a command is about to be able to write. The first note of a directory stays.
pub(super) fn note(directory: &Path, id: FileId) -> Result<()> {
    Notes::here().take(directory, id).map_err(|error| unwritable(directory, error))
}

/// Refuses build files that were not there when the workspace's image was first built: the next build would use them, and
/// a command may have made them since.
pub(super) fn pin_build_files(workspace: &Path, id: FileId, names: &[&str]) -> Result<()> {
    let notes = Notes::here();
    let pinned = notes.pin(workspace, id, names).map_err(|error| unwritable(workspace, error))?;
    let Some(new) = names.iter().find(|name| !pinned.files.iter().any(|known| known == *name)) else {
        return Ok(());
    };
    Err(invalid(format!(
        "`{}` was not there when the workspace's image was first built: a command may have made it",
        workspace.join(new).display()
    ))
    .with_remedy(format!("look at it; remove it, or `{}` if you want it to count", pinned.note.display())))
}

/// The note that makes a repository doubtful: a command could have written its list of worktrees.
pub(super) fn forgeable(repository: &Path, admin: &Path) -> Option<PathBuf> {
    Notes::here().forgeable(repository, admin)
}

fn unwritable(directory: &Path, error: io::Error) -> Error {
    Error::new(
        ErrorKind::Io,
        "run",
        format!("what `{}` holds can't be noted before a command changes it", directory.display()),
    )
    .with_source(error)
    .with_remedy("set XDG_STATE_HOME to a directory of yours that can be written")
}

/// The build files that count.
struct Pinned {
    files: Vec<String>,
    note: PathBuf,
}

impl Notes {
    fn here() -> &'static Self {
        static HERE: OnceLock<Notes> = OnceLock::new();
        HERE.get_or_init(|| {
            let dirs = UserDirs::here();
            Self::in_places(dirs.state.into_iter().chain([dirs.records]).map(|place| place.join(DIRECTORY)))
        })
    }

    fn in_places(places: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { places: places.into_iter().collect(), taken: Mutex::default() }
    }

    fn take(&self, directory: &Path, id: FileId) -> io::Result<()> {
        let name = note::file_name(directory);
        let key = (directory.to_owned(), id);
        let is_taken = |key| self.taken.lock().unwrap_or_else(PoisonError::into_inner).contains(key);
        // A person may have removed the note meanwhile.
        if is_taken(&key) && self.places.iter().any(|place| place.join(&name).symlink_metadata().is_ok()) {
            return Ok(());
        }
        if self.find(directory, id).is_none() {
            self.write(&Note::of(directory, id, holds_repository(directory)))?;
        }
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if taken.len() >= PRUNE_EVERY * PRUNE_EVERY {
            taken.clear();
        }
        taken.insert(key);
        Ok(())
    }

    fn pin(&self, workspace: &Path, id: FileId, names: &[&str]) -> io::Result<Pinned> {
        self.take(workspace, id)?;
        let (place, mut note) = self.find(workspace, id).ok_or(io::ErrorKind::NotFound)?;
        if let Some(files) = note.build_files {
            return Ok(Pinned { files, note: place });
        }
        let files: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        note.build_files = Some(files.clone());
        self.write(&note)?;
        Ok(Pinned { files, note: place })
    }

    fn forgeable(&self, repository: &Path, admin: &Path) -> Option<PathBuf> {
        // What is kept of a workspace's own repository is kept from the first run on, if it was there by then.
        let is_kept = |above: &Path, note: &Note| note.has_repository && above.join(".git") == repository;
        admin.ancestors().find_map(|above| {
            let id = os::file_id(above).ok()?;
            let (path, note) = self.find(above, id)?;
            (!is_kept(above, &note)).then_some(path)
        })
    }

    /// The note of a directory, if it is still the directory that was noted.
    fn find(&self, directory: &Path, id: FileId) -> Option<(PathBuf, Note)> {
        let name = note::file_name(directory);
        self.places.iter().find_map(|place| {
            let dir = Dir::open_own(place, Sharing::Readable).ok()?;
            let note = Note::parse(&dir.read(&name, LONGEST).ok()?)?;
            (note.path == directory && note.id == id).then(|| (place.join(&name), note))
        })
    }

    /// Writes it in the first place that takes it.
    fn write(&self, note: &Note) -> io::Result<()> {
        let name = note::file_name(&note.path);
        let mut failure = io::ErrorKind::NotFound.into();
        for place in &self.places {
            let written = Dir::make_own(place, Sharing::Readable)
                .and_then(|dir| dir.replace(&name, 0o600, &note.text()).map(|()| dir));
            match written {
                Ok(dir) => {
                    prune(&dir);
                    return Ok(());
                }
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }
}

/// Whether there is a repository in a directory that a mount can keep as it is.
fn holds_repository(directory: &Path) -> bool {
    let found = Dir::open(directory).and_then(|dir| dir.metadata(".git"));
    found.is_ok_and(|found| FileKind::of(&found) == FileKind::Directory)
}

/// Removes notes of directories that are gone, now and then.
fn prune(dir: &Dir) {
    let entries = dir.entries(MOST).unwrap_or_default();
    if !entries.len().is_multiple_of(PRUNE_EVERY) {
        return;
    }
    for entry in entries {
        let note = dir.read(&entry.name, LONGEST).ok().and_then(|text| Note::parse(&text));
        if note.is_none_or(|note| os::file_id(&note.path).ok() != Some(note.id)) {
            // The next one to look here does it.
            let _ = dir.remove_file(&entry.name);
        }
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
