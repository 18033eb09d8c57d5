//! An empty file prepared for the record of a run to come.
//!
//! Creating a file takes longer than filling and renaming one, and a command that gets a warm cell waits for it.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;

use exec_core::Result;
use exec_files::Dir;

use crate::record::{RunRecord, run_file};
use crate::state::{Kind, StateDir};

/// An empty file that is not a record yet.
#[derive(Debug)]
pub(crate) struct PreallocatedRecord {
    file: File,
    /// Its directory.
    runs: Arc<Dir>,
    name: String,
}

impl PreallocatedRecord {
    /// Prepares a file for the run of this cell. `None` on failure: then the run creates its record itself, or
    /// reports why it can't.
    pub(crate) fn lay(state: &StateDir, cell: &str) -> Option<Self> {
        let name = name(cell);
        let laid = state.lay(Kind::Run, &name);
        let laid = laid.inspect_err(|error| tracing::debug!(%error, "no record ahead of need"));
        laid.ok().map(|(runs, file)| Self { file, runs, name })
    }

    /// Turns it into the record of this run, complete from the start.
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

/// Removes the file prepared for this cell, if it is still there.
pub(crate) fn discard(state: &StateDir, cell: &str) {
    state.remove(Kind::Run, &name(cell));
}

/// The name of the file.
fn name(cell: &str) -> String {
    run_file(cell, "")
}
