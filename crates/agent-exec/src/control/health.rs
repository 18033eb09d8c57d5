//! Reports health. Pure except for listing the cells.

use std::fmt;

use exec_control::{CellView, Load, Meant, OwnerState, Target};
use exec_core::{Operation, Remedy, Result};
use serde::{Serialize, Serializer};

use super::Controller;

/// Whether something runs, and whether anything is wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HealthState {
    /// Something runs.
    Running,
    /// Nothing runs.
    Stopped,
    /// Something is wrong.
    Error,
}

/// The health of everything that runs, or of a target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HealthReport {
    /// The overall state.
    pub state: HealthState,
    /// Since when an emergency stop is in force, if one is.
    pub stopped_since: Option<String>,
    /// Current runs.
    pub runs: usize,
    /// Open sessions.
    pub sessions: usize,
    /// Idle warm cells.
    pub warm_cells: usize,
    /// The total load, as far as it can be measured.
    #[serde(flatten)]
    pub load: Load,
    /// Problems, each with its remedy.
    pub problems: Vec<Problem>,
}

impl Controller {
    /// Reports the health of a target, or of everything. A name that does not exist counts as stopped.
    pub fn health(&self, target: Option<&Target>) -> Result<HealthReport> {
        let cells = self.look()?;
        let meant = target.unwrap_or(&Target::All).among(&cells).unwrap_or_default();
        let since = self.latched()?.map(|latch| latch.since.rfc3339());
        Ok(HealthReport::of(&meant, since))
    }
}

impl HealthReport {
    fn of(meant: &[Meant<'_>], stopped_since: Option<String>) -> Self {
        let mut report = Self {
            state: HealthState::Stopped,
            stopped_since,
            runs: 0,
            sessions: 0,
            warm_cells: 0,
            load: Load::default(),
            problems: Vec::new(),
        };
        for meant in meant {
            let (cell, runs) = match meant {
                Meant::Cell(cell) => (cell, cell.runs.len()),
                Meant::Run(cell, _) => (cell, 1),
            };
            report.runs += runs;
            report.sessions += usize::from(cell.record.session.is_some());
            report.warm_cells += usize::from(cell.is_idle() && cell.record.place.is_some());
            if let Some(load) = cell.load {
                report.load = report.load.and(load);
            }
            report.problems.extend(problem(cell));
        }
        report.state = match (report.problems.is_empty(), report.runs + report.sessions) {
            (false, _) => HealthState::Error,
            (true, 0) => HealthState::Stopped,
            (true, _) => HealthState::Running,
        };
        report
    }
}

/// A problem, displayed as one sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The problem, and the cell that has it.
    pub what: String,
    /// How to solve it.
    pub remedy: Remedy,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.what, self.remedy)
    }
}

impl Serialize for Problem {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

fn problem(cell: &CellView) -> Option<Problem> {
    let (name, owner) = (&cell.record.name, cell.record.owner.pid);
    match cell.owner {
        OwnerState::Dead => Some(Problem {
            what: format!("{name}: its owner, process {owner}, is dead"),
            remedy: Operation::CollectGarbage.into(),
        }),
        OwnerState::Stopped => Some(Problem {
            what: format!("{name}: its owner, process {owner}, is stopped"),
            remedy: Remedy::host(format!("let it go on with `kill -CONT {owner}`")),
        }),
        OwnerState::Alive | OwnerState::Elsewhere => match (&cell.record.place, cell.load) {
            // A cell that has just ended stays in the records for a moment.
            (Some(_), Some(Load { processes: 0, .. }))
                if !cell.runs.is_empty() && cell.age().as_secs() > 5 =>
            {
                Some(Problem {
                    what: format!("{name}: nothing of it is alive, and its owner has not noticed"),
                    remedy: Operation::Kill(name.clone()).into(),
                })
            }
            _ => None,
        },
    }
}
