//! What runs now, put together from the records and from what the kernel shows of their processes.

use std::collections::HashMap;
use std::time::Duration;

use exec_core::Result;
use serde::Serialize;

use crate::members::Census;
use crate::owner::Owner;
use crate::process::World;
use crate::record::{CellRecord, Place, RunRecord};
use crate::snapshot::{self, Seen};
use crate::state::{Kind, StateDir};

/// A cell as it is now.
#[derive(Debug, Clone)]
pub struct CellView {
    /// What is written down of it.
    pub record: CellRecord,
    /// The runs in it, oldest first.
    pub runs: Vec<RunRecord>,
    /// What it uses; none where its processes can't be seen from here.
    pub load: Option<Load>,
    /// Whether its owner is there to look after it.
    pub owner: OwnerState,
}

/// What the processes of a cell use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Load {
    /// How many there are, those of ours included.
    pub processes: usize,
    /// Processor time so far, in milliseconds.
    pub cpu_ms: u64,
    /// Memory in use, in bytes.
    pub memory_bytes: u64,
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

/// All cells that are written down in a directory.
pub fn look(state: &StateDir) -> Result<Vec<CellView>> {
    let cells = cells(state)?;
    if cells.is_empty() {
        return Ok(Vec::new());
    }
    let mut runs = runs_by_cell(state)?;
    let seen = snapshot::take();
    let (census, here) = (Census::of(&seen), World::here());
    let view = |record: CellRecord| CellView {
        runs: runs.remove(&record.name).unwrap_or_default(),
        load: load(&record, &census),
        owner: owner_state(&record.owner, here.as_ref(), &seen),
        record,
    };
    Ok(cells.into_iter().map(view).collect())
}

/// The records of cells, oldest first. One that was written by somebody else's program is none of ours.
pub(crate) fn cells(state: &StateDir) -> Result<Vec<CellRecord>> {
    let names = state.names(Kind::Cell)?;
    let whole = |name: &String| state.get::<CellRecord>(Kind::Cell, name).filter(|cell| cell.name == *name);
    let mut cells: Vec<CellRecord> = names.iter().filter_map(whole).collect();
    cells.sort_by(|a, b| (a.since, &a.name).cmp(&(b.since, &b.name)));
    Ok(cells)
}

/// The records of runs, oldest first.
pub(crate) fn runs(state: &StateDir) -> Result<Vec<RunRecord>> {
    let names = state.names(Kind::Run)?;
    let whole = |name: &String| state.get::<RunRecord>(Kind::Run, name).filter(|run| run.id == *name);
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

fn load(record: &CellRecord, census: &Census<'_>) -> Option<Load> {
    if let Some(Place::Container { same_kernel: false, .. }) = record.place {
        return None;
    }
    let members = census.members(record);
    let ticks: u64 = members.iter().map(|seen| seen.ticks).sum();
    let pages: u64 = members.iter().map(|seen| seen.pages).sum();
    let (per_second, page) = units();
    Some(Load {
        processes: members.len(),
        cpu_ms: ticks.saturating_mul(1000) / per_second.max(1),
        memory_bytes: pages.saturating_mul(page),
    })
}

#[cfg(unix)]
fn units() -> (u64, u64) {
    (rustix::param::clock_ticks_per_second(), rustix::param::page_size() as u64)
}

#[cfg(not(unix))]
fn units() -> (u64, u64) {
    (100, 4096)
}

fn owner_state(owner: &Owner, here: Option<&World>, seen: &[Seen]) -> OwnerState {
    let Some(here) = here else { return OwnerState::Elsewhere };
    if owner.is_dead(here) {
        return OwnerState::Dead;
    }
    let Some(process) = owner.process(here) else { return OwnerState::Elsewhere };
    match seen.iter().find(|seen| seen.process == process) {
        Some(seen) if matches!(seen.state, 'T' | 't') => OwnerState::Stopped,
        Some(seen) if !seen.is_alive() => OwnerState::Dead,
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
