//! The latch of an emergency stop: while it is set, nothing new starts.

use std::io;
use std::path::PathBuf;

use exec_core::{Error, ErrorKind, Operation, Remedy, Result};
use serde::{Deserialize, Serialize};

use crate::record::Moment;
use crate::state::StateDir;

const FILE: &str = "stopped";

/// A latch that is set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latch {
    /// When it was set.
    pub since: Moment,
    /// The process that set it.
    pub pid: u32,
}

impl StateDir {
    /// Sets the latch. A latch that is set already stays as it is.
    pub fn latch(&self) -> Result<Latch> {
        self.prepare()?;
        let latch = Latch { since: Moment::now(), pid: std::process::id() };
        let text = serde_json::to_vec(&latch).unwrap_or_default();
        match self.root().and_then(|root| root.create(FILE, 0o600, &text)) {
            Ok(()) => Ok(latch),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Ok(self.latched()?.unwrap_or(latch))
            }
            Err(error) => Err(Error::new(
                ErrorKind::Io,
                "emergency stop",
                format!(
                    "the latch `{}` can't be set, so that new runs are not refused",
                    self.latch_path().display()
                ),
            )
            .with_source(error)
            .with_remedy(Remedy::host("make room in the directory, and see that it is yours"))),
        }
    }

    /// The latch, if it is set. The file's existence is enough.
    pub fn latched(&self) -> Result<Option<Latch>> {
        if !self.is_latched()? {
            return Ok(None);
        }
        let known = self.read_beside(FILE).ok().and_then(|text| serde_json::from_slice(&text).ok());
        Ok(Some(known.unwrap_or(Latch { since: Moment::now(), pid: 0 })))
    }

    /// Lifts the latch and returns whether it was set.
    pub fn lift(&self) -> Result<bool> {
        if !self.is_latched()? {
            return Ok(false);
        }
        match self.root().and_then(|root| root.remove_file(FILE)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(Error::new(
                ErrorKind::Io,
                "resume",
                format!("the latch `{}` can't be lifted", self.latch_path().display()),
            )
            .with_source(error)
            .with_remedy(Remedy::host("remove it by hand"))),
        }
    }

    /// Fails while the latch is set.
    pub fn admit(&self) -> Result<()> {
        if !self.is_latched()? {
            return Ok(());
        }
        let since = self.latched()?.map_or_else(String::new, |latch| latch.since.rfc3339());
        Err(Error::new(ErrorKind::Stopped, "start", "an emergency stop is in force and nothing new starts")
            .with_context("since", since)
            .with_remedy(Remedy::from(Operation::Resume).after("see that all is well")))
    }

    /// Whether a file has the latch's name. Called for every run, so it makes only four system calls while the
    /// latch is not set.
    fn is_latched(&self) -> Result<bool> {
        match self.root().and_then(|root| root.metadata(FILE)) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(self.unreadable(error)),
        }
    }

    fn latch_path(&self) -> PathBuf {
        self.path().join(FILE)
    }
}

#[cfg(test)]
mod tests {
    use exec_core::Step;

    use super::*;

    /// R14
    #[test]
    fn while_it_is_down_nothing_starts() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::at(dir.path().join("state"));
        state.admit().unwrap();
        let first = state.latch().unwrap();
        assert_eq!(state.latch().unwrap(), first, "the first one counts");
        let refused = state.admit().unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Stopped);
        assert_eq!(refused.remedy().unwrap().steps(), [Step::Operation(Operation::Resume)]);
        assert!(state.lift().unwrap());
        assert!(!state.lift().unwrap());
        state.admit().unwrap();
    }

    #[test]
    fn an_empty_file_is_a_latch_too() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(FILE), "").unwrap();
        assert_eq!(StateDir::at(dir.path()).admit().unwrap_err().kind(), ErrorKind::Stopped);
    }
}
