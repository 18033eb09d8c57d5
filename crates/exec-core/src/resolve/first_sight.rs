//! Notes about directories, taken before a command could first write there.
//!
//! Some files of a workspace decide what the host does next: a repository's `worktrees` open that repository to another
//! workspace, a Dockerfile is built, a program on the search path is run. Once a command could write a directory, the
//! directory itself can't prove that such a file is the user's own. So each writable directory is noted before the
//! first command runs there, in a place that no command can reach.
//!
//! A directory without a note is taken to be its user's work.

mod note;

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use exec_files::{Dir, Sharing, UserDirs};

use super::{FileId, git, invalid, os};
use crate::needs::BUILD_FILES;
use crate::{Error, ErrorKind, Remedy, Result};
use note::Note;

/// The directory of the notes, below our own directories.
const DIRECTORY: &str = "first-sight";

/// A note is a path and a few words.
const LONGEST: u64 = 16 << 10;

/// Notes of removed directories are pruned whenever this many more have been taken.
const PRUNE_EVERY: usize = 64;

/// The most notes examined at once.
const MOST: usize = 100_000;

/// The part of a writable directory that stays unchanged from the first command on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Keeps {
    /// Nothing.
    Nothing,
    /// The files git takes orders from, in its `.git`.
    ItsRepository,
    /// The files git takes orders from, in the directory itself.
    ItsOrders,
}

/// A directory that a command is about to get write access to.
#[derive(Debug, Clone)]
pub(super) struct Writable {
    pub(super) path: PathBuf,
    pub(super) id: FileId,
    pub(super) keeps: Keeps,
}

/// The notes of one user.
#[derive(Debug)]
struct Notes {
    /// Their possible places: first one that survives a reboot, then that of the records, for users without a home.
    places: Vec<PathBuf>,
    /// The notes this process has taken, so that a run in a warm cell needs a single lookup.
    taken: Mutex<HashSet<(PathBuf, FileId, Keeps)>>,
}

/// Notes a directory. Its first note stays, except that `keeps` is lowered when less is kept.
pub(super) fn note(writable: &Writable) -> Result<()> {
    Notes::here().take(writable).map_err(|error| unwritable(&writable.path, error))
}

/// Refuses to build from files that appeared after commands could write the workspace: a command may have made them.
/// Call it after the files were read, with their names: a command may create and remove a file at any moment.
///
/// # Errors
///
/// Names the file and the remedy.
pub fn check_build_files(workspace: &Path, read: &[&str]) -> Result<()> {
    let Some((note, first)) = Notes::here().find(workspace, os::file_id(workspace)?) else { return Ok(()) };
    let is_new = |name: &&&str| !first.build_files.iter().any(|known| known == **name);
    let Some(new) = read.iter().find(is_new) else { return Ok(()) };
    Err(invalid(format!(
        "`{}` was not there before the first command in this workspace: a command may have made it",
        workspace.join(new).display()
    ))
    .with_remedy(format!("look at it; remove it, or `{}` if you want it to count", note.display())))
}

/// Accepts these files of a directory for a build, because the user had them written.
///
/// # Errors
///
/// Fails if the note of the directory can't be written.
pub fn accept_build_files(workspace: &Path, names: &[&str]) -> Result<()> {
    let accept = || {
        let workspace = workspace.canonicalize()?;
        let id = os::file_id(&workspace).map_err(io::Error::other)?;
        let Some((_, mut first)) = Notes::here().find(&workspace, id) else { return Ok(()) };
        let is_new = |name: &&&str| !first.build_files.iter().any(|known| known == **name);
        let new: Vec<String> = names.iter().filter(is_new).map(|name| (*name).to_owned()).collect();
        first.build_files.extend(new);
        Notes::here().write(&first)
    };
    accept().map_err(|error| unwritable(workspace, error))
}

/// The note that makes a repository doubtful: a command could have written its list of worktrees.
pub(super) fn forgeable(repository: &Path, admin: &Path) -> Option<PathBuf> {
    Notes::here().forgeable(repository, admin)
}

/// The note that makes a workspace's pointer to a repository doubtful: the pointer did not lead there before the first
/// command in the workspace or above it.
pub(super) fn new_pointer(workspace: &Path, repository: &Path) -> Option<PathBuf> {
    Notes::here().new_pointer(workspace, repository)
}

/// Whether a command could have written a path: the path is in a directory that was writable for one.
pub fn could_be_a_commands(path: &Path) -> bool {
    Notes::here().covers(path)
}

fn build_files(workspace: &Path) -> Vec<String> {
    let Ok(dir) = Dir::open(workspace) else { return Vec::new() };
    BUILD_FILES.into_iter().filter(|name| dir.metadata(name).is_ok()).map(str::to_owned).collect()
}

fn unwritable(directory: &Path, error: io::Error) -> Error {
    Error::new(
        ErrorKind::Io,
        "run",
        format!("what `{}` holds can't be noted before a command changes it", directory.display()),
    )
    .with_source(error)
    .with_remedy(Remedy::host("set XDG_STATE_HOME to a directory of yours that can be written"))
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

    fn take(&self, writable: &Writable) -> io::Result<()> {
        let Writable { path, id, keeps } = writable;
        let key = (path.clone(), *id, *keeps);
        // The user may have removed the note meanwhile.
        if self.taken().contains(&key) && self.is_noted(path) {
            return Ok(());
        }
        match self.find(path, *id) {
            Some((_, first)) if first.keeps <= *keeps => {}
            Some((_, first)) => self.write(&Note { keeps: *keeps, ..first })?,
            None => self.write(&Note {
                path: path.clone(),
                id: *id,
                keeps: *keeps,
                worktree_of: git::repository_of(path).map(|repository| note::file_name(&repository)),
                build_files: build_files(path),
            })?,
        }
        let mut taken = self.taken();
        if taken.len() >= PRUNE_EVERY * PRUNE_EVERY {
            taken.clear();
        }
        taken.insert(key);
        Ok(())
    }

    fn taken(&self) -> std::sync::MutexGuard<'_, HashSet<(PathBuf, FileId, Keeps)>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_noted(&self, directory: &Path) -> bool {
        let name = note::file_name(directory);
        self.places.iter().any(|place| place.join(&name).symlink_metadata().is_ok())
    }

    fn covers(&self, path: &Path) -> bool {
        let real = path.canonicalize().ok();
        [Some(path), real.as_deref()]
            .into_iter()
            .flatten()
            .flat_map(Path::ancestors)
            .any(|above| self.is_noted(above))
    }

    fn forgeable(&self, repository: &Path, admin: &Path) -> Option<PathBuf> {
        let is_kept = |above: &Path, note: &Note| match note.keeps {
            Keeps::Nothing => false,
            Keeps::ItsRepository => above.join(".git") == repository,
            Keeps::ItsOrders => above == repository || above == admin,
        };
        admin.ancestors().find_map(|above| {
            let id = os::file_id(above).ok()?;
            let (path, note) = self.find(above, id)?;
            (!is_kept(above, &note)).then_some(path)
        })
    }

    fn new_pointer(&self, workspace: &Path, repository: &Path) -> Option<PathBuf> {
        workspace.ancestors().find_map(|above| {
            let (path, note) = self.find(above, os::file_id(above).ok()?)?;
            let is_first = if above == workspace {
                note.worktree_of.is_some_and(|known| known == note::file_name(repository))
            } else {
                // A command that could create the pointer can write this repository anyway.
                above.join(".git") == repository
            };
            Some((!is_first).then_some(path))
        })?
    }

    /// The note of a directory, unless another directory has taken its place.
    fn find(&self, directory: &Path, id: FileId) -> Option<(PathBuf, Note)> {
        let name = note::file_name(directory);
        self.places.iter().find_map(|place| {
            let dir = Dir::open_own(place, Sharing::Readable).ok()?;
            let note = Note::parse(&dir.read(&name, LONGEST).ok()?)?;
            note.is_about(directory, id).then(|| (place.join(&name), note))
        })
    }

    /// Writes it to the first place that accepts it.
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

/// Removes the notes of removed directories, from time to time.
fn prune(dir: &Dir) {
    let entries = dir.entries(MOST).unwrap_or_default();
    if !entries.len().is_multiple_of(PRUNE_EVERY) {
        return;
    }
    for entry in entries {
        let note = dir.read(&entry.name, LONGEST).ok().and_then(|text| Note::parse(&text));
        if note
            .is_none_or(|note| os::file_id(&note.path).ok().is_none_or(|id| !note.is_about(&note.path, id)))
        {
            // On failure the next pruning removes it.
            let _ = dir.remove_file(&entry.name);
        }
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
