//! The state directory: small files that record what runs, in a place that is this user's alone.
//!
//! The directory is ours or it is not used: its records decide what is killed and removed. Owner, mode and identity are
//! checked at every use, on the descriptor that is used. What others could have put there before (links, pipes, huge files) is
//! never followed, waited for or read.
//!
//! Knows files and their names, not what is in them.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use exec_core::{Error, ErrorKind, Result};
use exec_files::{Dir, FileKind, STATE_DIR_VARIABLE, Sharing, UserDirs};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::blank;

/// The largest file that is read; ours are far smaller.
const LARGEST: u64 = 1 << 20;

/// The most records of one kind that are looked at.
const MOST: usize = 1 << 17;

/// The mode of new files.
const PRIVATE: u32 = 0o600;

/// What other users may do with the records. A user may make the directory readable.
const SHARING: Sharing = Sharing::Readable;

/// Kinds of files, each in a directory of its own.
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

/// Where records are. Clones share the open directories.
#[derive(Debug, Clone)]
pub struct StateDir(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    held: Mutex<Held>,
}

/// Directories that stay open from one use to the next. Each is compared with what is on disk before it is used again.
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
    /// In this directory.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(Arc::new(Inner { path: path.into(), held: Mutex::default() }))
    }

    /// The directory of this user, where all orchestrators of theirs meet: [`UserDirs`] finds it.
    pub fn of_this_user() -> Self {
        Self::at(UserDirs::here().records)
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// The directory itself, if it is there and ours.
    pub(crate) fn root(&self) -> io::Result<Arc<Dir>> {
        self.held().root(self.path())
    }

    /// The directory of a kind of records, if it is there and ours.
    fn records(&self, kind: Kind) -> io::Result<Arc<Dir>> {
        self.held().kind(self.path(), kind)
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Held> {
        self.0.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes what is missing of it; an error if it is not ours alone.
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

    /// Does something with the records of a kind, whose directory may not be there yet, or not any more.
    pub(crate) fn with_made<T>(&self, kind: Kind, act: impl Fn(&Dir) -> io::Result<T>) -> io::Result<T> {
        match self.records(kind).and_then(|records| act(&records)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.try_prepare()?;
                act(&*self.records(kind)?)
            }
            done => done,
        }
    }

    /// What to say when it can't be used.
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

    /// What to say when it can't be read.
    pub(crate) fn unreadable(&self, error: io::Error) -> Error {
        let what = format!("the records in `{}` can't be used", self.path().display());
        Error::new(ErrorKind::Io, "look", what).with_source(error).with_remedy(remedy())
    }

    /// The path of a record, for the helpers that remove it when its owner is dead.
    pub(crate) fn record_path(&self, kind: Kind, name: &str) -> PathBuf {
        self.path().join(kind.directory()).join(name)
    }

    /// Writes a new record. Whoever reads it at the same time may find it incomplete.
    pub(crate) fn put(&self, kind: Kind, name: &str, value: &impl Serialize) -> Result<()> {
        let put = || {
            let text = serde_json::to_vec(value)?;
            self.with_made(kind, |records| records.create(name, PRIVATE, &text))
        };
        put().map_err(|error| self.unusable(error))
    }

    /// An empty file beside the records of a kind, to be filled and renamed later, with the directory it is in.
    pub(crate) fn lay(&self, kind: Kind, name: &str) -> io::Result<(Arc<Dir>, std::fs::File)> {
        let records = self.records(kind)?;
        let file = records.create_file(name, PRIVATE)?;
        Ok((records, file))
    }

    /// Adds something to a record that is there. Whoever reads it at the same time may find it without.
    pub(crate) fn add(&self, kind: Kind, name: &str, value: &impl Serialize) -> Result<()> {
        let add = || {
            let text = serde_json::to_vec(value)?;
            self.records(kind)?.append_existing(name)?.write_all(&text)
        };
        add().map_err(|error| self.unusable(error))
    }

    /// Puts another record in the place of one, as a whole.
    pub(crate) fn replace(&self, kind: Kind, name: &str, value: &impl Serialize) -> Result<()> {
        let replace = || {
            let text = serde_json::to_vec(value)?;
            self.with_made(kind, |records| records.replace(name, PRIVATE, &text))
        };
        replace().map_err(|error| self.unusable(error))
    }

    /// Removes a record. One that is not there is removed.
    pub(crate) fn remove(&self, kind: Kind, name: &str) {
        match self.records(kind).and_then(|records| records.remove_file(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(%error, name, "a record can't be removed");
            }
            _ => {}
        }
    }

    /// A record, if it is there and whole.
    pub(crate) fn get<T: DeserializeOwned>(&self, kind: Kind, name: &str) -> Option<T> {
        self.text(kind, name).and_then(|text| serde_json::from_slice(&text).ok())
    }

    /// A record, if it is there and whole, with what was added to it.
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

    /// Names of the records of a kind. A directory that is not there has none.
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

    /// A small file beside the records.
    pub(crate) fn read_beside(&self, name: &str) -> io::Result<Vec<u8>> {
        self.root()?.read(name, LARGEST)
    }

    /// Writes such a file, whole at once.
    pub(crate) fn replace_beside(&self, name: &str, contents: &[u8]) -> Result<()> {
        self.root()
            .and_then(|root| root.replace(name, PRIVATE, contents))
            .map_err(|error| self.unusable(error))
    }

    /// Leaves word for the owner of a cell why it is about to end.
    pub fn leave_word(&self, cell: &str, why: &str) {
        if let Err(error) = self.replace(Kind::End, cell, &why) {
            tracing::debug!(%error, "no word could be left for the owner of a cell");
        }
    }

    /// Takes a cell and its runs out of the records: nothing of them is left, and whoever wrote them does not do it.
    pub fn strike(&self, cell: &str) -> Result<()> {
        for run in crate::view::runs(self)?.iter().filter(|run| run.cell == cell) {
            self.remove(Kind::Run, &run.file());
        }
        blank::discard(self, cell);
        self.remove(Kind::Cell, cell);
        Ok(())
    }
}

/// The same for every way in which a directory can't be used: it is another user's, or open to others, or a link.
fn remedy() -> String {
    format!(
        "run it as the user whose directory it is, or set {STATE_DIR_VARIABLE} to a directory that only you can write"
    )
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
        assert!(error.remedy().unwrap().contains("AGENTCTL_STATE_DIR"));
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
