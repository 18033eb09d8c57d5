//! Whether all is well with what runs. Pure but for the look itself.

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
    /// Nothing does.
    Stopped,
    /// Something is wrong.
    Error,
}

/// How what runs is doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HealthReport {
    /// In a word.
    pub state: HealthState,
    /// Since when an emergency stop is in force, if one is.
    pub stopped_since: Option<String>,
    /// Runs under way.
    pub runs: usize,
    /// Sessions that are open.
    pub sessions: usize,
    /// Cells that wait for a command.
    pub warm_cells: usize,
    /// What all of them use together, as far as it can be seen.
    #[serde(flatten)]
    pub load: Load,
    /// What is wrong, each with what to do about it.
    pub problems: Vec<Problem>,
}

impl Controller {
    /// How what is meant is doing; without a target, everything. A name that nothing has is one that has stopped.
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

/// Something that is wrong. Written as one sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong, and with which cell.
    pub what: String,
    /// What to do about it.
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
            // A cell that has just ended is in the records for a moment longer.
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
