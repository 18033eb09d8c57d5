//! The state directory: small files that record what runs, in a directory only this user can write.
//!
//! A directory that is not ours is not used, because its records decide what is killed and removed. Owner, mode and
//! identity are checked at every use, on the descriptor in use. Anything others could have put there before (links,
//! pipes, huge files) is never followed, waited for or read.
//!
//! This module knows files and their names, not their contents.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use exec_core::{Error, ErrorKind, Remedy, Result};
use exec_files::{Dir, FileKind, STATE_DIR_VARIABLE, Sharing, UserDirs};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::preallocated;

/// The largest file that is read; our files are far smaller.
const LARGEST: u64 = 1 << 20;

/// The most records of one kind that are read.
const MOST: usize = 1 << 17;

/// The mode of new files.
const PRIVATE: u32 = 0o600;

/// What other users may do with the records. A user may make the directory readable for them.
const SHARING: Sharing = Sharing::Readable;

/// Kinds of files, each in its own directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Cell,
    Run,
    /// Why a cell was ended from outside.
    End,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Cell, Self::Run, Self::End];

    fn directory(self) -> &'static str {
        match self {
            Self::Cell => "cells",
            Self::Run => "runs",
            Self::End => "ends",
        }
    }
}

/// The directory of the records. Clones share the open directories.
#[derive(Debug, Clone)]
pub struct StateDir(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    held: Mutex<Held>,
}

/// Directories kept open between uses. Each is compared with the file system before it is used again.
#[derive(Debug, Default)]
struct Held {
    root: Option<Arc<Dir>>,
    kinds: [Option<Arc<Dir>>; Kind::ALL.len()],
}

impl PartialEq for StateDir {
    fn eq(&self, other: &Self) -> bool {
        self.path() == other.path()
    }
}

impl Eq for StateDir {}

impl StateDir {
    /// The state directory at this path.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(Arc::new(Inner { path: path.into(), held: Mutex::default() }))
    }

    /// The directory of this user, shared by all of the user's orchestrators: [`UserDirs`] finds it.
    pub fn of_this_user() -> Self {
        Self::at(UserDirs::here().records)
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// The directory itself, if it exists and is ours.
    pub(crate) fn root(&self) -> io::Result<Arc<Dir>> {
        self.held().root(self.path())
    }

    /// The directory of a kind of records, if it exists and is ours.
    fn records(&self, kind: Kind) -> io::Result<Arc<Dir>> {
        self.held().kind(self.path(), kind)
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Held> {
        self.0.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates its missing parts; fails if it is not ours alone.
    pub(crate) fn prepare(&self) -> Result<()> {
        self.try_prepare().map_err(|error| self.unusable(error))
    }

    fn try_prepare(&self) -> io::Result<()> {
        let root = Dir::make_own(self.path(), SHARING)?;
        for kind in Kind::ALL {
            match root.make_dir(kind.directory(), 0o700) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => root.own_dir(kind.directory(), SHARING)?,
            };
        }
        Ok(())
    }

    /// Runs `act` on the records of a kind, and creates their directory if it does not exist.
    pub(crate) fn with_made<T>(&self, kind: Kind, act: impl Fn(&Dir) -> io::Result<T>) -> io::Result<T> {
        match self.records(kind).and_then(|records| act(&records)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.try_prepare()?;
                act(&*self.records(kind)?)
            }
            done => done,
        }
    }

    /// The error when records can't be written.
    pub(crate) fn unusable(&self, error: io::Error) -> Error {
        let kind = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ErrorKind::ResourceExhausted,
            _ => ErrorKind::Io,
        };
        let what = format!(
            "the state directory `{}` can't record what runs, and without a record it could not be stopped",
            self.path().display()
        );
        Error::new(kind, "record", what).with_source(error).with_remedy(remedy())
    }

    /// The error when records can't be read.
    pub(crate) fn unreadable(&self, error: io::Error) -> Error {
        let what = format!("the records in `{}` can't be used", self.path().display());
        Error::new(ErrorKind::Io, "look", what).with_source(error).with_remedy(remedy())
    }

    /// The path of a record, for the helpers that remove it when its owner is dead.
    pub(crate) fn record_path(&self, kind: Kind, name: &str) -> PathBuf {
        self.path().join(kind.directory()).join(name)
    }

    /// Writes a new record. A concurrent reader may find it incomplete.
    pub(crate) fn put(&self, kind: Kind, name: &str, value: &impl Serialize) -> Result<()> {
        let put = || {
            let text = serde_json::to_vec(value)?;
            self.with_made(kind, |records| records.create(name, PRIVATE, &text))
        };
        put().map_err(|error| self.unusable(error))
    }

    /// Creates an empty file next to the records of a kind, to be filled and renamed later. Returns its directory
    /// too.
    pub(crate) fn lay(&self, kind: Kind, name: &str) -> io::Result<(Arc<Dir>, std::fs::File)> {
        let records = self.records(kind)?;
        let file = records.create_file(name, PRIVATE)?;
        Ok((records, file))
    }

    /// Appends to an existing record. A concurrent reader may not see the addition.
    pub(crate) fn add(&self, kind: Kind, name: &str, value: &impl Serialize) -> Result<()> {
        let add = || {
            let text = serde_json::to_vec(value)?;
            self.records(kind)?.append_existing(name)?.write_all(&text)
        };
        add().map_err(|error| self.unusable(error))
    }

    /// Replaces a record atomically.
    pub(crate) fn replace(&self, kind: Kind, name: &str, value: &impl Serialize) -> Result<()> {
        let replace = || {
            let text = serde_json::to_vec(value)?;
            self.with_made(kind, |records| records.replace(name, PRIVATE, &text))
        };
        replace().map_err(|error| self.unusable(error))
    }

    /// Removes a record. A record that does not exist is not an error.
    pub(crate) fn remove(&self, kind: Kind, name: &str) {
        match self.records(kind).and_then(|records| records.remove_file(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(%error, name, "a record can't be removed");
            }
            _ => {}
        }
    }

    /// Reads a record, if it exists and is complete.
    pub(crate) fn get<T: DeserializeOwned>(&self, kind: Kind, name: &str) -> Option<T> {
        self.text(kind, name).and_then(|text| serde_json::from_slice(&text).ok())
    }

    /// Reads a record, if it exists and is complete, with what was appended to it.
    pub(crate) fn get_with<T: DeserializeOwned, A: DeserializeOwned>(
        &self,
        kind: Kind,
        name: &str,
    ) -> Option<(T, Option<A>)> {
        let text = self.text(kind, name)?;
        let mut values = serde_json::Deserializer::from_slice(&text);
        let record = T::deserialize(&mut values).ok()?;
        Some((record, A::deserialize(&mut values).ok()))
    }

    fn text(&self, kind: Kind, name: &str) -> Option<Vec<u8>> {
        self.records(kind).and_then(|records| records.read(name, LARGEST)).ok()
    }

    /// The names of the records of a kind. A directory that does not exist has none.
    pub(crate) fn names(&self, kind: Kind) -> Result<Vec<String>> {
        let entries = match self.records(kind).and_then(|records| records.entries(MOST)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(self.unreadable(error)),
        };
        let files = entries.into_iter().filter(|entry| entry.kind == FileKind::File);
        let names = files.filter_map(|entry| entry.name.into_string().ok());
        Ok(names.filter(|name| !name.starts_with('.')).collect())
    }

    /// Reads a small file next to the records.
    pub(crate) fn read_beside(&self, name: &str) -> io::Result<Vec<u8>> {
        self.root()?.read(name, LARGEST)
    }

    /// Replaces such a file atomically.
    pub(crate) fn replace_beside(&self, name: &str, contents: &[u8]) -> Result<()> {
        self.root()
            .and_then(|root| root.replace(name, PRIVATE, contents))
            .map_err(|error| self.unusable(error))
    }

    /// Leaves a note for the owner of a cell with the reason why the cell is ended.
    pub fn leave_word(&self, cell: &str, why: &str) {
        if let Err(error) = self.replace(Kind::End, cell, &why) {
            tracing::debug!(%error, "no word could be left for the owner of a cell");
        }
    }

    /// Removes a cell and its runs from the records, once nothing of them is left and their owner won't do it.
    pub fn forget(&self, cell: &str) -> Result<()> {
        for run in crate::view::runs(self)?.iter().filter(|run| run.cell == cell) {
            self.remove(Kind::Run, &run.file());
        }
        preallocated::discard(self, cell);
        self.remove(Kind::Cell, cell);
        Ok(())
    }
}

/// One remedy for every reason: the directory is another user's, writable by others, or a link.
fn remedy() -> Remedy {
    Remedy::host("run it as the user whose directory it is")
        .or(Remedy::host(format!("set {STATE_DIR_VARIABLE} to a directory that only you can write")))
}

impl Held {
    fn root(&mut self, path: &Path) -> io::Result<Arc<Dir>> {
        if let Some(root) = self.root.as_ref().filter(|root| root.is_still_own(path, SHARING)) {
            return Ok(Arc::clone(root));
        }
        *self = Self::default();
        let root = Arc::new(Dir::open_own(path, SHARING)?);
        self.root = Some(Arc::clone(&root));
        Ok(root)
    }

    fn kind(&mut self, path: &Path, kind: Kind) -> io::Result<Arc<Dir>> {
        let root = self.root(path)?;
        let name = kind.directory();
        let held = &mut self.kinds[kind as usize];
        if let Some(records) = held.as_ref().filter(|records| records.is_still_own_in(&root, name, SHARING)) {
            return Ok(Arc::clone(records));
        }
        let records = Arc::new(root.own_dir(name, SHARING)?);
        *held = Some(Arc::clone(&records));
        Ok(records)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_directory_that_others_can_write_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::at(dir.path());
        state.prepare().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let error = state.prepare().unwrap_err();
        assert!(error.to_string().contains("open to others"), "{error}");
        assert!(error.remedy().unwrap().to_string().contains("AGENTCTL_STATE_DIR"));
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(dir.path(), &link).unwrap();
        StateDir::at(link).prepare().unwrap_err();
    }

    #[test]
    fn a_record_is_whole_or_not_there() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::at(dir.path().join("state"));
        assert!(state.names(Kind::Run).unwrap().is_empty());
        state.put(Kind::Run, "a", &"one").unwrap();
        state.replace(Kind::Run, "a", &"two").unwrap();
        fs::write(state.record_path(Kind::Run, "b"), "\"tw").unwrap();
        assert_eq!(state.get::<String>(Kind::Run, "a").as_deref(), Some("two"));
        assert_eq!(state.get::<String>(Kind::Run, "b"), None);
        state.remove(Kind::Run, "b");
        state.remove(Kind::Run, "b");
        assert_eq!(state.names(Kind::Run).unwrap(), ["a"]);
    }

    #[test]
    fn what_is_added_to_a_record_is_whole_or_not_there() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::at(dir.path().join("state"));
        let both = || state.get_with::<String, u32>(Kind::Run, "a");
        state.put(Kind::Run, "a", &"one").unwrap();
        assert_eq!(both(), Some(("one".to_owned(), None)));
        state.add(Kind::Run, "a", &7).unwrap();
        assert_eq!(both(), Some(("one".to_owned(), Some(7))));
        fs::write(state.record_path(Kind::Run, "a"), "\"on").unwrap();
        assert_eq!(both(), None);
        state.add(Kind::Run, "nobody", &7).unwrap_err();
    }
}
