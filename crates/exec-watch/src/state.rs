//! The state directory: small files that say what runs, in a place that is this user's alone.
//!
//! Knows files and their names, not what is in them.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use exec_core::{Error, ErrorKind, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::blank;

/// The variable that names another directory.
pub const STATE_DIR_VARIABLE: &str = "AGENTCTL_STATE_DIR";

/// The largest file that is read; ours are far smaller.
const MOST: u64 = 1 << 20;

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

/// Where records are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateDir(PathBuf);

impl StateDir {
    /// In this directory.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// The directory of this user, where all orchestrators of theirs meet:
    ///
    /// 1. what `AGENTCTL_STATE_DIR` says;
    /// 2. root's: `/run/agentctl`. Who is root in a user namespace alone does not own `/run`, and has no place there;
    /// 3. `agentctl` below `XDG_RUNTIME_DIR`, else below `/run/user/<uid>` if that is theirs;
    /// 4. `agentctl-<uid>-state` in the directory of temporary files.
    pub fn of_this_user() -> Self {
        Self(usual(&|name| std::env::var_os(name), user_id(), &is_our_directory))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Makes what is missing of it; an error if it is not ours alone.
    pub(crate) fn prepare(&self) -> Result<()> {
        self.try_prepare().map_err(|error| self.unusable(error))
    }

    fn try_prepare(&self) -> io::Result<()> {
        make_private(&self.0)?;
        must_be_ours(&self.0)?;
        for kind in Kind::ALL {
            make_private(&self.0.join(kind.directory()))?;
        }
        Ok(())
    }

    /// What to say when it can't be used.
    pub(crate) fn unusable(&self, error: io::Error) -> Error {
        let kind = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ErrorKind::ResourceExhausted,
            _ => ErrorKind::Io,
        };
        Error::new(
            kind,
            "record",
            format!(
                "what runs can't be written down in `{}`, so that nobody could stop it",
                self.0.display()
            ),
        )
        .with_source(error)
        .with_remedy(format!(
            "make the directory yours and writable, or set {STATE_DIR_VARIABLE} to one that is"
        ))
    }

    /// Where a record of this name is.
    pub(crate) fn record(&self, kind: Kind, name: &str) -> PathBuf {
        self.0.join(kind.directory()).join(name)
    }

    /// A file beside the records.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a new record. Whoever reads it at the same time may find it incomplete.
    pub(crate) fn put(&self, kind: Kind, name: &str, value: &impl Serialize) -> Result<()> {
        self.try_put(kind, name, value).map_err(|error| self.unusable(error))
    }

    fn try_put(&self, kind: Kind, name: &str, value: &impl Serialize) -> io::Result<()> {
        let text = serde_json::to_vec(value)?;
        let path = self.record(kind, name);
        match create(&path, &text) {
            // The directory may not be there yet, or not any more.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.try_prepare()?;
                create(&path, &text)
            }
            other => other,
        }
    }

    /// Adds something to a record that is there. Whoever reads it at the same time may find it without.
    pub(crate) fn add(&self, kind: Kind, name: &str, value: &impl Serialize) -> Result<()> {
        let add = || {
            let text = serde_json::to_vec(value)?;
            OpenOptions::new().append(true).open(self.record(kind, name))?.write_all(&text)
        };
        add().map_err(|error| self.unusable(error))
    }

    /// Puts another record in the place of one, as a whole.
    pub(crate) fn replace(&self, kind: Kind, name: &str, value: &impl Serialize) -> Result<()> {
        let draft = format!(".{name}.{}", std::process::id());
        let path = self.record(kind, &draft);
        // A draft of this name can only be one of ours that came to nothing.
        let _ = fs::remove_file(&path);
        let written = self.try_put(kind, &draft, value);
        written.and_then(|()| fs::rename(&path, self.record(kind, name))).map_err(|error| {
            let _ = fs::remove_file(&path);
            self.unusable(error)
        })
    }

    /// Removes a record. One that is not there is removed.
    pub(crate) fn remove(&self, kind: Kind, name: &str) {
        match fs::remove_file(self.record(kind, name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(%error, name, "a record can't be removed");
            }
            _ => {}
        }
    }

    /// A record, if it is there and whole.
    pub(crate) fn get<T: DeserializeOwned>(&self, kind: Kind, name: &str) -> Option<T> {
        read(&self.record(kind, name)).ok().and_then(|text| serde_json::from_slice(&text).ok())
    }

    /// A record, if it is there and whole, with what was added to it.
    pub(crate) fn get_with<T: DeserializeOwned, A: DeserializeOwned>(
        &self,
        kind: Kind,
        name: &str,
    ) -> Option<(T, Option<A>)> {
        let text = read(&self.record(kind, name)).ok()?;
        let mut values = serde_json::Deserializer::from_slice(&text);
        let record = T::deserialize(&mut values).ok()?;
        Some((record, A::deserialize(&mut values).ok()))
    }

    /// Names of the records of a kind. A directory that is not there has none.
    pub(crate) fn names(&self, kind: Kind) -> Result<Vec<String>> {
        let entries = match fs::read_dir(self.0.join(kind.directory())) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(self.unreadable(error)),
        };
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        Ok(names.filter(|name| !name.starts_with('.')).collect())
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
            self.remove(Kind::Run, &run.id);
        }
        blank::discard(self, cell);
        self.remove(Kind::Cell, cell);
        Ok(())
    }

    /// What to say when it can't be read.
    pub(crate) fn unreadable(&self, error: io::Error) -> Error {
        Error::new(ErrorKind::Io, "look", format!("the records in `{}` can't be read", self.0.display()))
            .with_source(error)
            .with_remedy("run as the user whose runs they are, or as root")
    }
}

/// The whole of a small file.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    use std::io::Read;
    let mut text = Vec::new();
    fs::File::open(path)?.take(MOST).read_to_end(&mut text)?;
    Ok(text)
}

/// A new file of this user's own.
pub(crate) fn create(path: &Path, text: &[u8]) -> io::Result<()> {
    let written = create_file(path)?.write_all(text);
    if written.is_err() {
        // Half a record says less than none.
        let _ = fs::remove_file(path);
    }
    written
}

/// The same, empty.
pub(crate) fn create_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn make_private(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Whoever can write there decides what we kill.
#[cfg(unix)]
fn must_be_ours(directory: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let found = fs::symlink_metadata(directory)?;
    let for_others = found.mode() & 0o022;
    if found.is_dir() && Some(found.uid()) == user_id() && for_others == 0 {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is somebody else's, a link, or open to others"))
}

#[cfg(not(unix))]
fn must_be_ours(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have no such number")]
fn user_id() -> Option<u32> {
    Some(rustix::process::geteuid().as_raw())
}

#[cfg(not(unix))]
fn user_id() -> Option<u32> {
    None
}

#[cfg(unix)]
fn is_our_directory(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    path.metadata().is_ok_and(|found| found.is_dir() && Some(found.uid()) == user_id())
}

#[cfg(not(unix))]
fn is_our_directory(path: &Path) -> bool {
    path.is_dir()
}

fn usual(
    variable: &dyn Fn(&str) -> Option<OsString>,
    user: Option<u32>,
    is_ours: &dyn Fn(&Path) -> bool,
) -> PathBuf {
    let path = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(named) = path(STATE_DIR_VARIABLE) {
        return named;
    }
    if user == Some(0) && is_ours(Path::new("/run")) {
        return "/run/agentctl".into();
    }
    let conventional = || user.map(|user| PathBuf::from(format!("/run/user/{user}")));
    match path("XDG_RUNTIME_DIR").or_else(|| conventional().filter(|path| is_ours(path))) {
        Some(runtime) => runtime.join("agentctl"),
        None => std::env::temp_dir().join(format!("agentctl-{}-state", user.unwrap_or_default())),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::named(&[("AGENTCTL_STATE_DIR", "/s"), ("XDG_RUNTIME_DIR", "/x")], 1000, "/s")]
    #[case::root_has_one_place_whatever_sudo_left(&[("XDG_RUNTIME_DIR", "/run/user/1000")], 0, "/run/agentctl")]
    #[case::runtime(&[("XDG_RUNTIME_DIR", "/x")], 1000, "/x/agentctl")]
    #[case::by_convention(&[], 1000, "/run/user/1000/agentctl")]
    #[case::relative_paths_do_not_count(&[("AGENTCTL_STATE_DIR", "s")], 0, "/run/agentctl")]
    fn where_it_is(#[case] variables: &[(&str, &str)], #[case] user: u32, #[case] expected: &str) {
        let variables: BTreeMap<_, _> = variables.iter().copied().collect();
        let found = usual(&|name| variables.get(name).map(Into::into), Some(user), &|_| true);
        assert_eq!(found, Path::new(expected));
    }

    /// In a user namespace.
    #[test]
    fn a_root_that_does_not_own_the_system_has_a_users_place() {
        let runtime = |name: &str| (name == "XDG_RUNTIME_DIR").then(|| "/run/user/1000".into());
        let found = usual(&runtime, Some(0), &|path| path != Path::new("/run"));
        assert_eq!(found, Path::new("/run/user/1000/agentctl"));
    }

    #[test]
    fn without_a_runtime_directory_it_is_with_temporary_files() {
        let found = usual(&|_| None, Some(1000), &|_| false);
        assert_eq!(found, std::env::temp_dir().join("agentctl-1000-state"));
    }

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
        fs::write(state.record(Kind::Run, "b"), "\"tw").unwrap();
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
        fs::write(state.record(Kind::Run, "a"), "\"on").unwrap();
        assert_eq!(both(), None);
        state.add(Kind::Run, "nobody", &7).unwrap_err();
    }
}
