//! The result of a stop.

use exec_cell::Left;
use exec_control::{Meant, Survivor};
use serde::Serialize;

/// The result of a stop.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Report {
    /// Cells and runs that are verified to be gone.
    pub ended: Vec<Ended>,
    /// Processes that are still alive.
    pub survivors: Vec<Survivor>,
    /// Other failures. As far as can be seen, they left nothing alive.
    pub left: Vec<Left>,
}

/// A cell that is gone, or a run of a shared cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ended {
    /// The cell.
    pub cell: String,
    /// Its executor.
    pub executor: String,
    /// The runs in it.
    pub runs: Vec<String>,
}

impl Report {
    /// Whether certainly nothing is alive that should not be.
    pub fn is_clean(&self) -> bool {
        self.survivors.is_empty() && !self.left.iter().any(|left| left.may_live)
    }

    /// Adds the result of another stop.
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
