//! What stopping came to.

use exec_cell::Left;
use exec_control::{Meant, Survivor};
use serde::Serialize;

/// What stopping came to.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Report {
    /// What is verified to be gone.
    pub ended: Vec<Ended>,
    /// Processes that are still there.
    pub survivors: Vec<Survivor>,
    /// What else could not be done. Nothing of it is alive, as far as can be seen.
    pub left: Vec<Left>,
}

/// A cell, or a run of one that others use, that is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ended {
    /// The cell.
    pub cell: String,
    /// The executor it was of.
    pub executor: String,
    /// The runs that were in it.
    pub runs: Vec<String>,
}

impl Report {
    /// Nothing is alive that should not be, for sure.
    pub fn is_clean(&self) -> bool {
        self.survivors.is_empty() && !self.left.iter().any(|left| left.may_live)
    }

    /// Takes in what another stop came to.
    pub fn add(&mut self, other: Self) {
        self.ended.extend(other.ended);
        self.survivors.extend(other.survivors);
        self.left.extend(other.left);
    }
}

impl Ended {
    pub(super) fn of(meant: &Meant<'_>) -> Self {
        let (cell, runs) = match meant {
            Meant::Cell(cell) => (cell, cell.runs.iter().map(|run| run.id.clone()).collect()),
            Meant::Run(cell, run) => (cell, vec![run.id.clone()]),
        };
        Self { cell: cell.record.name.clone(), executor: cell.record.backend.clone(), runs }
    }
}
