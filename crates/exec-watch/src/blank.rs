//! A file for the record of a run that is still to come.
//!
//! To make a file takes a file system longer than to fill one and give it its name, and a command that comes to a warm cell
//! waits for it.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;

use exec_core::Result;
use exec_files::Dir;

use crate::record::{RunRecord, run_file};
use crate::state::{Kind, StateDir};

/// An empty file that nobody takes for a record yet.
#[derive(Debug)]
pub(crate) struct Blank {
    file: File,
    /// Where it is.
    runs: Arc<Dir>,
    name: String,
}

impl Blank {
    /// One for the run of this cell. None where there can't be one: then the run makes its record itself, or says why not.
    pub(crate) fn lay(state: &StateDir, cell: &str) -> Option<Self> {
        let name = name(cell);
        let laid = state.lay(Kind::Run, &name);
        let laid = laid.inspect_err(|error| tracing::debug!(%error, "no record ahead of need"));
        laid.ok().map(|(runs, file)| Self { file, runs, name })
    }

    /// Makes it the record of this run, whole from the beginning.
    pub(crate) fn fill(mut self, state: &StateDir, run: &RunRecord) -> Result<()> {
        let filled = serde_json::to_vec(run)
            .map_err(Into::into)
            .and_then(|text| self.file.write_all(&text))
            .and_then(|()| self.runs.rename(&self.name, run.file()));
        filled.map_err(|error| {
            let _ = self.runs.remove_file(&self.name);
            state.unusable(error)
        })
    }
}

/// Takes away the one of this cell, if there still is one.
pub(crate) fn discard(state: &StateDir, cell: &str) {
    state.remove(Kind::Run, &name(cell));
}

/// What it is called.
fn name(cell: &str) -> String {
    run_file(cell, "")
}
