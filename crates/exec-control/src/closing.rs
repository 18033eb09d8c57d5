//! Closes the runs whose owners died before they logged an end. The runs are found in the records; after a reboot,
//! which deletes the records, in the audit log.
//!
//! Only runs recorded in this very state directory are closed. The caller holds that directory's lock, so that no
//! run is closed twice.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use exec_core::Result;

use crate::audit::{AuditLog, EndLine, Extent, OpenRun, Reading};
use crate::owner::Owner;
use crate::process::{World, machine};
use crate::state::{Kind, StateDir};
use crate::sweep::{SweepMode, Swept};
use crate::view;

/// Holds the boot in which the log was last searched.
const LOOKED: &str = "audit-looked";

/// Closes the runs of dead owners, or only lists them.
pub(crate) fn close_runs(
    state: &StateDir,
    audit: Option<&AuditLog>,
    here: &World,
    (mode, extent): (SweepMode, Extent),
    swept: &mut Swept,
) -> Result<()> {
    let dead: Vec<_> = view::runs(state)?.into_iter().filter(|run| run.owner.is_dead(here)).collect();
    let looked = last_look(state, here);
    let is_due = extent == Extent::All || !dead.is_empty() || looked != Looked::Now;
    let extent = if looked == Looked::InVain { Extent::All } else { extent };
    let is_noted = is_due && audit.is_some() && mode == SweepMode::Remove;
    if is_noted {
        // Before the log is read: a helper that removes a record meanwhile empties the note after it.
        looked_at(state, here);
    }
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
        // An owner may have died after it logged the end and before it removed the record.
        if !reading.as_ref().is_some_and(|reading| reading.has_ended(&run.id)) {
            close(&run.id, &run.owner);
        }
        if mode == SweepMode::Remove {
            state.remove(Kind::Run, &run.file());
        }
        swept.runs.push(run.id);
    }
    let mut is_complete = false;
    if let (Some(reading), Some(audit)) = (reading, audit) {
        match left_open(reading, audit, extent, state, here) {
            Ok(open) => {
                let known: BTreeSet<String> = swept.runs.iter().cloned().collect();
                for run in open.dead.into_iter().filter(|run| !known.contains(&run.id)) {
                    close(&run.id, &run.owner);
                    swept.runs.push(run.id);
                }
                is_complete = open.are_others_recorded;
            }
            Err(error) => swept.problems.push(format!("the audit log can't be read again: {error}")),
        }
    }
    if is_noted && !is_complete {
        not_looked_at(state);
    }
    Ok(())
}

/// Runs of this directory that have no end in the log.
struct LeftOpen {
    /// Runs of dead owners.
    dead: Vec<OpenRun>,
    /// Whether all the others have a record. A killed owner takes a moment to end, and the record of its run can be
    /// gone by then: such a run has to be looked for again.
    are_others_recorded: bool,
}

/// The open runs in the log. The log is read once more after owners were found dead: one may have closed its run
/// and ended in between.
fn left_open(
    reading: Reading,
    audit: &AuditLog,
    extent: Extent,
    state: &StateDir,
    here: &World,
) -> io::Result<LeftOpen> {
    let place = state.path().to_string_lossy();
    let ours = reading.open().filter(|run| is_ours(run, &place));
    let (mut dead, others): (Vec<OpenRun>, Vec<OpenRun>) = ours.partition(|run| run.owner.is_dead(here));
    if !dead.is_empty() {
        let again = audit.read(extent)?;
        dead.retain(|run| again.is_open(&run.id));
    }
    let records = view::runs(state).unwrap_or_default();
    let is_recorded = |run: &OpenRun| records.iter().any(|record| record.id == run.id);
    let is_elsewhere = |run: &OpenRun| run.owner.process(here).is_none();
    let are_others_recorded = others.iter().all(|run| is_elsewhere(run) || is_recorded(run));
    Ok(LeftOpen { dead, are_others_recorded })
}

/// Another machine has another boot, and owners on it may be alive.
fn is_ours(run: &OpenRun, place: &str) -> bool {
    run.state == place && run.machine.as_deref() == machine()
}

fn why(owner: &Owner, here: &World) -> String {
    match &owner.world {
        Some(world) if world.boot != here.boot => "the machine was restarted before it ended".to_owned(),
        _ => format!("its owner, process {}, was gone before it ended", owner.pid),
    }
}

/// The path of [`LOOKED`].
pub(crate) fn note(state: &StateDir) -> PathBuf {
    state.path().join(LOOKED)
}

/// When the log was last searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Looked {
    /// During this boot, which is enough: the records have every run since then.
    Now,
    /// During an earlier boot, or never.
    Earlier,
    /// A helper has since removed the record of a run that did not end, however long ago it started, and emptied
    /// the note.
    InVain,
}

fn last_look(state: &StateDir, here: &World) -> Looked {
    match state.read_beside(LOOKED) {
        Ok(boot) if boot == here.boot.as_bytes() => Looked::Now,
        Ok(emptied) if emptied.is_empty() => Looked::InVain,
        _ => Looked::Earlier,
    }
}

fn looked_at(state: &StateDir, here: &World) {
    if let Err(error) = state.root().and_then(|root| root.replace(LOOKED, 0o600, here.boot.as_bytes())) {
        tracing::debug!(%error, "the log will be looked through again");
    }
}

fn not_looked_at(state: &StateDir) {
    // Without a note the log is searched as well, though not as far.
    let _ = state.root().and_then(|root| root.replace(LOOKED, 0o600, b""));
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests;
