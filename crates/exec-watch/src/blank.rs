//! A file for the record of a run that is still to come.
//!
//! To make a file takes a file system longer than to fill one and give it its name, and a command that comes to a warm cell
//! waits for it.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;

use exec_core::Result;
use serde::Serialize;

use crate::state::{Kind, StateDir, create_file};

/// An empty file that nobody takes for a record yet.
#[derive(Debug)]
pub(crate) struct Blank {
    file: File,
    path: PathBuf,
}

impl Blank {
    /// One for the run of this cell. None where there can't be one: then the run makes its record itself, or says why not.
    pub(crate) fn lay(state: &StateDir, cell: &str) -> Option<Self> {
        let path = path(state, cell);
        let made = create_file(&path).inspect_err(|error| tracing::debug!(%error, "no record ahead of need"));
        made.ok().map(|file| Self { file, path })
    }

    /// Makes it the record of the run of this name, whole from the beginning.
    pub(crate) fn fill(mut self, state: &StateDir, name: &str, value: &impl Serialize) -> Result<()> {
        let filled = serde_json::to_vec(value)
            .map_err(Into::into)
            .and_then(|text| self.file.write_all(&text))
            .and_then(|()| fs::rename(&self.path, state.record(Kind::Run, name)));
        filled.map_err(|error| {
            let _ = fs::remove_file(&self.path);
            state.unusable(error)
        })
    }
}

/// Takes away the one of this cell, if there still is one.
pub(crate) fn discard(state: &StateDir, cell: &str) {
    let _ = fs::remove_file(path(state, cell));
}

/// Where it is. Names that begin like this are no records.
pub(crate) fn path(state: &StateDir, cell: &str) -> PathBuf {
    state.record(Kind::Run, &format!(".{cell}"))
}
