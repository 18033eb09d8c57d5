//! Runs whose owners died before they could write down their ends: found in the records, and after a restart of the
//! machine, which takes the records away, in the audit log itself.
//!
//! Only runs that were written down in this very state directory are closed: whoever does it has that directory's turn,
//! so that no run is closed twice.

use std::collections::BTreeSet;
use std::io;

use exec_core::Result;

use crate::audit::{AuditLog, EndLine, Extent, OpenRun, Reading};
use crate::owner::Owner;
use crate::process::{World, machine};
use crate::state::{Kind, StateDir};
use crate::sweep::{SweepMode, Swept};
use crate::view;

/// Says in which start of the machine the log was last looked through.
const LOOKED: &str = "audit-looked";

/// Closes the runs of owners that are dead, or only says which they are.
pub(crate) fn close_runs(
    state: &StateDir,
    audit: Option<&AuditLog>,
    here: &World,
    (mode, extent): (SweepMode, Extent),
    swept: &mut Swept,
) -> Result<()> {
    let dead: Vec<_> = view::runs(state)?.into_iter().filter(|run| run.owner.is_dead(here)).collect();
    let is_due = extent == Extent::All || !dead.is_empty() || !was_looked_at(state, here);
    let reading = audit.filter(|_| is_due).map(|audit| audit.read(extent)).transpose();
    let reading = reading.unwrap_or_else(|error| {
        swept.problems.push(format!("the audit log can't be read, so that no run in it was closed: {error}"));
        None
    });
    let close = |run: &str, owner: &Owner| {
        if let (SweepMode::Remove, Some(audit)) = (mode, audit) {
            audit.end(&EndLine::failed(run, why(owner, here)));
        }
    };
    for run in dead {
        // An owner may have died between the line and taking the record away.
        if !reading.as_ref().is_some_and(|reading| reading.has_ended(&run.id)) {
            close(&run.id, &run.owner);
        }
        if mode == SweepMode::Remove {
            state.remove(Kind::Run, &run.id);
        }
        swept.runs.push(run.id);
    }
    let (Some(reading), Some(audit)) = (reading, audit) else { return Ok(()) };
    match left_open(reading, audit, extent, state, here) {
        Ok(open) => {
            let known: BTreeSet<String> = swept.runs.iter().cloned().collect();
            for run in open.into_iter().filter(|run| !known.contains(&run.id)) {
                close(&run.id, &run.owner);
                swept.runs.push(run.id);
            }
            if mode == SweepMode::Remove {
                looked_at(state, here);
            }
        }
        Err(error) => swept.problems.push(format!("the audit log can't be read again: {error}")),
    }
    Ok(())
}

/// Runs of this directory and of dead owners that the log says have not ended. It is read once more after they were found
/// to be dead: an owner may have closed its run and ended in between.
fn left_open(
    reading: Reading,
    audit: &AuditLog,
    extent: Extent,
    state: &StateDir,
    here: &World,
) -> io::Result<Vec<OpenRun>> {
    let place = state.path().to_string_lossy();
    let mut open: Vec<OpenRun> = reading.open().filter(|run| is_ours(run, &place, here)).collect();
    if !open.is_empty() {
        let again = audit.read(extent)?;
        open.retain(|run| again.is_open(&run.id));
    }
    Ok(open)
}

/// Another machine has another boot, and its owners may be alive.
fn is_ours(run: &OpenRun, place: &str, here: &World) -> bool {
    run.state == place && run.machine.as_deref() == machine() && run.owner.is_dead(here)
}

fn why(owner: &Owner, here: &World) -> String {
    match &owner.world {
        Some(world) if world.boot != here.boot => "the machine was restarted before it ended".to_owned(),
        _ => format!("its owner, process {}, was gone before it ended", owner.pid),
    }
}

/// Once in every start of the machine is enough: afterwards the records have it all.
fn was_looked_at(state: &StateDir, here: &World) -> bool {
    state.read_beside(LOOKED).is_ok_and(|boot| boot == here.boot.as_bytes())
}

fn looked_at(state: &StateDir, here: &World) {
    if let Err(error) = state.root().and_then(|root| root.replace(LOOKED, 0o600, here.boot.as_bytes())) {
        tracing::debug!(%error, "the log will be looked through again");
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests;
