//! Cleans up after owners that are dead: what of their cells is alive, control groups, directories, records, and the
//! lines of the audit log that nobody closed. Only what is provably nobody's goes; a doubt leaves it where it is.

use std::fs;
use std::path::Path;
use std::time::Duration;

use exec_core::Result;
use serde::Serialize;

use crate::audit::{AuditLog, Extent};
use crate::blank;
use crate::closing::close_runs;
use crate::ending::{Survivor, end_all, is_any_alive};
use crate::groups;
use crate::lock::{Lock, With};
use crate::process::World;
use crate::record::{CellRecord, Place};
use crate::state::{Kind, StateDir};
use crate::view;

/// How long the processes of the dead may take to die too.
const LIMIT: Duration = Duration::from_secs(5);

/// How long another that cleans up may take, for one that was asked to do so.
const OTHERS_TURN: Duration = Duration::from_secs(20);

/// Whether anything is done about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SweepMode {
    /// It is only told.
    Look,
    /// It goes.
    Remove,
}

/// What dead owners left.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Swept {
    /// Cells of which nothing is alive. What an engine still keeps of them is found by its labels.
    pub cells: Vec<String>,
    /// Runs whose end nobody wrote down.
    pub runs: Vec<String>,
    /// Directories of cells.
    pub directories: Vec<String>,
    /// How many empty control groups were removed.
    pub control_groups: usize,
    /// What could not be removed, and why.
    pub problems: Vec<String>,
}

/// Cleans up. `extent` says how far the audit log is gone through.
pub(crate) fn sweep(
    state: &StateDir,
    audit: Option<&AuditLog>,
    mode: SweepMode,
    extent: Extent,
) -> Result<Swept> {
    let mut swept = Swept::default();
    let Some(here) = World::here() else { return Ok(swept) };
    // Who does it by itself leaves it to the other; who was asked to does not say that there is nothing to do.
    let patience = if extent == Extent::All { OTHERS_TURN } else { Duration::ZERO };
    let Some(_turn) = turn(state, patience) else {
        if extent == Extent::All {
            swept.problems.push("another process is cleaning up and does not finish".to_owned());
        }
        return Ok(swept);
    };
    let dead: Vec<_> = view::cells(state)?.into_iter().filter(|cell| cell.owner.is_dead(&here)).collect();
    let survivors = if mode == SweepMode::Remove { end(&dead) } else { Vec::new() };
    for cell in dead {
        if mode == SweepMode::Look || bury(state, &cell, &survivors, &mut swept) {
            swept.cells.push(cell.name);
        }
    }
    close_runs(state, audit, &here, (mode, extent), &mut swept)?;
    if mode == SweepMode::Remove {
        let cells = state.names(Kind::Cell)?;
        for word in state.names(Kind::End)?.iter().filter(|word| !cells.contains(word)) {
            state.remove(Kind::End, word);
        }
    }
    Ok(swept)
}

/// Ends what is alive of the cells of the dead, which is nothing in most cases: one look is enough for that.
fn end(dead: &[CellRecord]) -> Vec<Survivor> {
    if dead.is_empty() || !is_any_alive(dead) { Vec::new() } else { end_all(dead, LIMIT) }
}

/// Whether nothing of it is left.
fn bury(state: &StateDir, cell: &CellRecord, survivors: &[Survivor], swept: &mut Swept) -> bool {
    if let Some(survivor) = survivors.iter().find(|survivor| survivor.cell == cell.name) {
        swept.problems.push(format!("process {} of {} can't be killed", survivor.pid, cell.name));
        return false;
    }
    if let Some(Place::Container { same_kernel: false, .. }) = cell.place {
        // Nobody but its engine can say whether it is gone.
        return false;
    }
    swept.control_groups += groups::remove_empty(&cell.name);
    if let Some(Place::Keeper { scratch: Some(directory), .. }) = &cell.place
        && is_named(directory, &cell.name)
        && directory.exists()
    {
        match fs::remove_dir_all(directory) {
            Ok(()) => swept.directories.push(directory.display().to_string()),
            Err(error) => {
                swept.problems.push(format!("{} can't be removed: {error}", directory.display()));
                return false;
            }
        }
    }
    blank::discard(state, &cell.name);
    state.remove(Kind::Cell, &cell.name);
    true
}

/// A directory of a cell has its name: whatever else a record says is not believed.
fn is_named(directory: &Path, cell: &str) -> bool {
    directory.is_absolute() && directory.file_name().is_some_and(|name| name == cell)
}

/// One at a time.
fn turn(state: &StateDir, patience: Duration) -> Option<Lock> {
    let open = || fs::OpenOptions::new().create(true).append(true).open(state.file("sweep.lock"));
    // The directory goes with a restart of the machine, and there may be a log to look through all the same.
    let file = open().or_else(|error| state.prepare().map_or(Err(error), |()| open())).ok()?;
    Lock::take(file, With::Nobody, patience).ok()?
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::audit::{Audit, AuditFile};
    use crate::blank::Blank;
    use crate::owner::Owner;
    use crate::process::Process;
    use crate::record::{Moment, RunRecord};
    use crate::watch::Watch;

    fn dead() -> Owner {
        let own = Owner::this_process();
        Owner { start: own.start.map(|start| start - 1), ..own }
    }

    fn cell(name: &str, owner: Owner, keeper: Process, scratch: Option<&Path>) -> CellRecord {
        CellRecord {
            name: name.into(),
            backend: "local".into(),
            owner,
            since: Moment::now(),
            place: Some(Place::Keeper { keeper, scratch: scratch.map(Into::into) }),
            session: None,
        }
    }

    fn run(id: &str, owner: Owner) -> RunRecord {
        RunRecord {
            id: id.into(),
            cell: "c".into(),
            backend: "local".into(),
            owner,
            session: None,
            pid: None,
            argv: vec!["x".into()],
            cwd: "/".into(),
            since: Moment::now(),
        }
    }

    /// R15, R91, A37, F12
    #[test]
    fn what_the_dead_left_goes_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("audit.jsonl");
        let state = StateDir::at(dir.path().join("state"));
        let watch = Watch::new(state.clone(), Audit::On(AuditFile::at(&log)));
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        let alive = Process::now(child.id()).unwrap();
        let reused = Process { start: alive.start - 1, ..alive };
        let (scratch, strange) = (dir.path().join("left"), dir.path().join("precious"));
        fs::create_dir(&scratch).unwrap();
        fs::create_dir(&strange).unwrap();
        for cell in [
            cell("left", dead(), reused, Some(&scratch)),
            cell("odd", dead(), reused, Some(&strange)),
            cell("kept", Owner::this_process(), alive, None),
        ] {
            state.put(Kind::Cell, &cell.name, &cell).unwrap();
        }
        state.put(Kind::Run, "r1", &run("r1", dead())).unwrap();
        state.put(Kind::Run, "r2", &run("r2", Owner::this_process())).unwrap();
        state.leave_word("left", "why");
        Blank::lay(&state, "left").unwrap();

        let looked = watch.sweep(SweepMode::Look).unwrap();
        assert_eq!((looked.cells.len(), looked.runs.len()), (2, 1));
        assert!(scratch.exists() && !log.exists(), "looking changes nothing");

        let swept = watch.sweep(SweepMode::Remove).unwrap();
        assert_eq!(swept.runs, ["r1"]);
        assert!(!scratch.exists() && strange.exists());
        assert_eq!(state.names(Kind::Cell).unwrap(), ["kept"]);
        assert_eq!(state.names(Kind::Run).unwrap(), ["r2"]);
        assert!(state.names(Kind::End).unwrap().is_empty());
        assert_eq!(
            fs::read_dir(state.path().join("runs")).unwrap().count(),
            1,
            "nor what was laid out for a run"
        );
        assert!(!alive.is_dead(), "the number was another's");
        let said = fs::read_to_string(&log).unwrap();
        assert_eq!(said.lines().count(), 1);
        assert!(said.contains("\"run\":\"r1\"") && said.contains("was gone before it ended"), "{said}");
        assert_eq!(watch.sweep(SweepMode::Remove).unwrap(), Swept::default(), "nothing is left to do");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
