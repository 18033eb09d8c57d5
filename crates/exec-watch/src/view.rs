//! What runs now, put together from the records and from what the kernel shows of their processes.

use std::collections::HashMap;
use std::time::Duration;

use exec_core::Result;
use serde::Serialize;

use crate::load::{Load, Meter};
use crate::members::Census;
use crate::owner::Owner;
use crate::process::World;
use crate::record::{CellRecord, Place, RunRecord};
use crate::snapshot;
use crate::stat::Stat;
use crate::state::{Kind, StateDir};
use crate::watch::is_cell_name;

/// A cell as it is now.
#[derive(Debug, Clone)]
pub struct CellView {
    /// What is written down of it.
    pub record: CellRecord,
    /// The runs in it, oldest first.
    pub runs: Vec<RunRecord>,
    /// What it uses; none where its processes can't be seen from here, or were not looked at.
    pub load: Option<Load>,
    /// Whether its owner is there to look after it.
    pub owner: OwnerState,
}

/// What is known of an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnerState {
    /// It lives.
    Alive,
    /// It lives and does nothing: somebody stopped it.
    Stopped,
    /// It is dead, and what it left has to be cleaned up.
    Dead,
    /// It is in another container or another namespace, and nobody here can tell.
    Elsewhere,
}

/// All cells that are written down in a directory, with what they use.
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

/// All cells that are written down in a directory. What they use is not looked at: that takes the longer the more
/// processes there are on the machine, and who has to stop a fork bomb has no time for it.
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

/// The records of cells, oldest first. Files that are not whole records of ours are left out.
pub(crate) fn cells(state: &StateDir) -> Result<Vec<CellRecord>> {
    let names = state.names(Kind::Cell)?;
    let mut cells: Vec<CellRecord> = names.iter().filter_map(|name| cell(state, name)).collect();
    cells.sort_by(|a, b| (a.since, &a.name).cmp(&(b.since, &b.name)));
    Ok(cells)
}

/// The record of a cell, with where it is if that was added to it. Control groups and directories are looked for by a cell's
/// name, so a record with a name that is not a cell's is not a record.
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
    match Stat::read(&process.pid.to_string()) {
        Some(stat) if matches!(stat.state, 'T' | 't') => OwnerState::Stopped,
        _ => OwnerState::Alive,
    }
}

impl CellView {
    /// Since when what is in it has been there.
    pub fn age(&self) -> Duration {
        self.runs.first().map_or(self.record.since, |run| run.since).age()
    }

    /// Whether it waits for a command: warm, and nobody's session.
    pub fn is_idle(&self) -> bool {
        self.runs.is_empty() && self.record.session.is_none()
    }
}
