//! What runs now, from the records and from what the kernel shows of their processes.

use std::collections::HashMap;
use std::time::Duration;

use exec_core::Result;
use serde::Serialize;

use crate::load::{Load, Meter};
use crate::members::Census;
use crate::owner::Owner;
use crate::process::World;
use crate::procfs;
use crate::record::{CellRecord, Place, RunRecord};
use crate::snapshot;
use crate::state::{Kind, StateDir};
use crate::watch::is_cell_name;

/// A cell as it is now.
#[derive(Debug, Clone)]
pub struct CellView {
    /// Its record.
    pub record: CellRecord,
    /// The runs in it, oldest first.
    pub runs: Vec<RunRecord>,
    /// Its load; `None` if its processes can't be seen from here or were not measured.
    pub load: Option<Load>,
    /// Whether its owner can look after it.
    pub owner: OwnerState,
}

/// What is known about an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnerState {
    /// It is alive.
    Alive,
    /// It is alive, but stopped by a signal.
    Stopped,
    /// It is dead, and its leftovers have to be cleaned up.
    Dead,
    /// It is in another container or namespace, and its state can't be determined here.
    Elsewhere,
}

/// Lists all recorded cells, with their load.
pub fn look(state: &StateDir) -> Result<Vec<CellView>> {
    let mut cells = list(state)?;
    if !cells.is_empty() {
        let seen = snapshot::take();
        let (census, meter) = (Census::of(&seen), Meter::here());
        for cell in &mut cells {
            cell.load = meter.load(&cell.record, &census);
        }
    }
    Ok(cells)
}

/// Lists all recorded cells without their load: measuring takes longer the more processes the machine has, too long
/// for stopping a fork bomb.
pub fn list(state: &StateDir) -> Result<Vec<CellView>> {
    let mut runs = runs_by_cell(state)?;
    let here = World::here();
    let view = |record: CellRecord| CellView {
        runs: runs.remove(&record.name).unwrap_or_default(),
        load: None,
        owner: owner_state(&record.owner, here.as_ref()),
        record,
    };
    Ok(cells(state)?.into_iter().map(view).collect())
}

/// The records of cells, oldest first. Incomplete and foreign files are left out.
pub(crate) fn cells(state: &StateDir) -> Result<Vec<CellRecord>> {
    let names = state.names(Kind::Cell)?;
    let mut cells: Vec<CellRecord> = names.iter().filter_map(|name| cell(state, name)).collect();
    cells.sort_by(|a, b| (a.since, &a.name).cmp(&(b.since, &b.name)));
    Ok(cells)
}

/// The record of a cell, with its place if that was appended. Control groups and directories are searched by the
/// cell's name, so a record with any other name is ignored.
pub(crate) fn cell(state: &StateDir, name: &str) -> Option<CellRecord> {
    let (cell, place) = state.get_with::<CellRecord, Place>(Kind::Cell, name)?;
    (cell.name == name && is_cell_name(name))
        .then(|| CellRecord { place: place.or(cell.place.clone()), ..cell })
}

/// The records of runs, oldest first.
pub(crate) fn runs(state: &StateDir) -> Result<Vec<RunRecord>> {
    let names = state.names(Kind::Run)?;
    let whole = |name: &String| {
        let (run, pid) = state.get_with::<RunRecord, u32>(Kind::Run, name)?;
        (run.file() == *name).then_some(RunRecord { pid, ..run })
    };
    let mut runs: Vec<RunRecord> = names.iter().filter_map(whole).collect();
    runs.sort_by(|a, b| (a.since, &a.id).cmp(&(b.since, &b.id)));
    Ok(runs)
}

fn runs_by_cell(state: &StateDir) -> Result<HashMap<String, Vec<RunRecord>>> {
    let mut by_cell: HashMap<String, Vec<RunRecord>> = HashMap::new();
    for run in runs(state)? {
        by_cell.entry(run.cell.clone()).or_default().push(run);
    }
    Ok(by_cell)
}

fn owner_state(owner: &Owner, here: Option<&World>) -> OwnerState {
    let Some(here) = here else { return OwnerState::Elsewhere };
    if owner.is_dead(here) {
        return OwnerState::Dead;
    }
    let Some(process) = owner.process(here) else { return OwnerState::Elsewhere };
    match procfs::stat(&process.pid.to_string()) {
        Some(stat) if matches!(stat.state, 'T' | 't') => OwnerState::Stopped,
        _ => OwnerState::Alive,
    }
}

impl CellView {
    /// How long its oldest run has been there, or the cell itself if it has none.
    pub fn age(&self) -> Duration {
        self.runs.first().map_or(self.record.since, |run| run.since).age()
    }

    /// Whether it waits for a command: warm, and without a session.
    pub fn is_idle(&self) -> bool {
        self.runs.is_empty() && self.record.session.is_none()
    }
}
