//! Cleans up after dead owners: processes of their cells, control groups, directories, records, and unclosed runs
//! in the audit log. Only things that provably belong to a dead owner are removed; in doubt they stay.

use std::io;
use std::path::Path;
use std::time::Duration;

use exec_core::Result;
use exec_files::Dir;
use serde::Serialize;

use crate::audit::{AuditLog, Extent};
use crate::closing::close_runs;
use crate::ending::{Survivor, end_all, is_any_alive};
use crate::groups;
use crate::lock::{Lock, With};
use crate::preallocated;
use crate::process::World;
use crate::record::{CellRecord, Place};
use crate::state::{Kind, StateDir};
use crate::view;

/// How long the processes of dead owners may take to die.
const LIMIT: Duration = Duration::from_secs(5);

/// How long a requested sweep waits for another sweep.
const OTHERS_TURN: Duration = Duration::from_secs(20);

/// Whether a sweep removes what it finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SweepMode {
    /// Only report.
    Look,
    /// Remove.
    Remove,
}

/// What dead owners left behind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Swept {
    /// Cells of which no process is alive. Their leftovers on an engine are found by its labels.
    pub cells: Vec<String>,
    /// Runs whose end was not logged.
    pub runs: Vec<String>,
    /// Directories of cells.
    pub directories: Vec<String>,
    /// How many empty control groups were removed.
    pub control_groups: usize,
    /// Failures to remove something, with the reason.
    pub problems: Vec<String>,
}

/// Cleans up. `extent` is how much of the audit log is searched.
pub(crate) fn sweep(
    state: &StateDir,
    audit: Option<&AuditLog>,
    mode: SweepMode,
    extent: Extent,
) -> Result<Swept> {
    let mut swept = Swept::default();
    let Some(here) = World::here() else { return Ok(swept) };
    // An automatic sweep leaves the work to the other process; a requested one must not report that nothing is left
    // to do.
    let patience = if extent == Extent::All { OTHERS_TURN } else { Duration::ZERO };
    let Some(_turn) = turn(state, patience)? else {
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

/// Ends the living processes of these cells. Usually there are none, and one scan is enough.
fn end(dead: &[CellRecord]) -> Vec<Survivor> {
    if dead.is_empty() || !is_any_alive(dead) { Vec::new() } else { end_all(dead, LIMIT) }
}

/// Removes a cell; returns whether nothing of it is left.
fn bury(state: &StateDir, cell: &CellRecord, survivors: &[Survivor], swept: &mut Swept) -> bool {
    if let Some(survivor) = survivors.iter().find(|survivor| survivor.cell == cell.name) {
        swept.problems.push(format!("process {} of {} can't be killed", survivor.pid, cell.name));
        return false;
    }
    if let Some(Place::Container { same_kernel: false, .. }) = cell.place {
        // Only its engine knows whether it is gone.
        return false;
    }
    swept.control_groups += groups::remove_empty(&cell.name);
    if let Some(Place::Keeper { scratch: Some(directory), .. }) = &cell.place {
        match remove_scratch(directory, &cell.name) {
            Ok(Scratch::Removed) => swept.directories.push(directory.display().to_string()),
            Ok(Scratch::Absent) => {}
            Err(error) => {
                swept.problems.push(format!("{} can't be removed: {error}", directory.display()));
                return false;
            }
        }
    }
    preallocated::discard(state, &cell.name);
    state.remove(Kind::Cell, &cell.name);
    true
}

/// What happened to a cell's directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scratch {
    Removed,
    /// It does not exist, or the record names something that is not a cell's directory.
    Absent,
}

/// Removes the directory of a cell. Local executors create it among temporary files and name it after the cell; a
/// record that names any other directory is ignored.
fn remove_scratch(directory: &Path, cell: &str) -> io::Result<Scratch> {
    if directory.file_name().is_none_or(|name| name != cell) {
        return Ok(Scratch::Absent);
    }
    match std::fs::symlink_metadata(directory) {
        Ok(found) if found.is_dir() => {}
        _ => return Ok(Scratch::Absent),
    }
    let temporary = std::env::temp_dir();
    if directory.parent() != Some(&temporary) {
        let message = format!("it is not in {}; set TMPDIR as its owner had it", temporary.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
    }
    let temporary = Dir::open(&temporary.canonicalize()?)?;
    if !is_ours(&temporary, cell)? {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it belongs to another user"));
    }
    temporary.remove_tree(cell).map(|()| Scratch::Removed)
}

/// Whether the directory is ours. Root also removes those of users whose commands it ran.
#[cfg(unix)]
fn is_ours(temporary: &Dir, cell: &str) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let user = rustix::process::geteuid();
    Ok(user.is_root() || temporary.metadata(cell)?.uid() == user.as_raw())
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "the same call as where files have owners")]
fn is_ours(_: &Dir, _: &str) -> io::Result<bool> {
    Ok(true)
}

/// Takes the sweep lock. A reboot removes the directory, but there may still be a log to search, so it is created
/// if missing.
fn turn(state: &StateDir, patience: Duration) -> Result<Option<Lock>> {
    state.prepare()?;
    let file = state.root().and_then(|root| root.append("sweep.lock", 0o600));
    file.and_then(|file| Lock::take(file, With::NoOther, patience)).map_err(|error| state.unusable(error))
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::*;
    use crate::audit::{Audit, AuditFile};
    use crate::owner::Owner;
    use crate::preallocated::PreallocatedRecord;
    use crate::process::Process;
    use crate::record::{Moment, RunRecord};
    use crate::watch::{Watch, cell_name};

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
        let [left, odd, kept] = [(); 3].map(|()| cell_name());
        let (scratch, strange) = (std::env::temp_dir().join(&left), dir.path().join("precious"));
        fs::create_dir(&scratch).unwrap();
        fs::create_dir(&strange).unwrap();
        for cell in [
            cell(&left, dead(), reused, Some(&scratch)),
            cell(&odd, dead(), reused, Some(&strange)),
            cell(&kept, Owner::this_process(), alive, None),
        ] {
            state.put(Kind::Cell, &cell.name, &cell).unwrap();
        }
        for run in [run("r1", dead()), run("r2", Owner::this_process())] {
            state.put(Kind::Run, &run.file(), &run).unwrap();
        }
        state.leave_word(&left, "why");
        PreallocatedRecord::lay(&state, &left).unwrap();

        let looked = watch.sweep(SweepMode::Look).unwrap();
        assert_eq!((looked.cells.len(), looked.runs.len()), (2, 1));
        assert!(scratch.exists() && !log.exists(), "looking changes nothing");

        let swept = watch.sweep(SweepMode::Remove).unwrap();
        assert_eq!(swept.runs, ["r1"]);
        assert!(!scratch.exists() && strange.exists());
        assert_eq!(state.names(Kind::Cell).unwrap(), [kept]);
        assert_eq!(state.names(Kind::Run).unwrap(), ["c.r2"]);
        assert!(state.names(Kind::End).unwrap().is_empty());
        assert_eq!(
            fs::read_dir(state.path().join("runs")).unwrap().count(),
            1,
            "nor what was laid out for a run"
        );
        assert!(!alive.is_dead(), "the pid belonged to another process");
        let said = fs::read_to_string(&log).unwrap();
        assert_eq!(said.lines().count(), 1);
        assert!(said.contains("\"run\":\"r1\"") && said.contains("was gone before it ended"), "{said}");
        assert_eq!(watch.sweep(SweepMode::Remove).unwrap(), Swept::default(), "nothing is left to do");
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// A41: only a directory of ours, among temporary files and with the cell's name.
    #[test]
    fn a_record_names_only_a_directory_of_its_cell() {
        let elsewhere = tempfile::tempdir().unwrap();
        let name = cell_name();
        let (inside, outside) = (std::env::temp_dir().join(&name), elsewhere.path().join(&name));
        fs::create_dir_all(outside.join("precious")).unwrap();
        assert_eq!(remove_scratch(&outside.join("precious"), &name).unwrap(), Scratch::Absent);
        assert!(remove_scratch(&outside, &name).unwrap_err().to_string().contains("TMPDIR"));
        assert_eq!(remove_scratch(&inside, &name).unwrap(), Scratch::Absent);
        std::os::unix::fs::symlink(&outside, &inside).unwrap();
        assert_eq!(remove_scratch(&inside, &name).unwrap(), Scratch::Absent);
        assert!(outside.join("precious").exists());
        fs::remove_file(&inside).unwrap();
        fs::create_dir_all(inside.join("a/b")).unwrap();
        assert_eq!(remove_scratch(&inside, &name).unwrap(), Scratch::Removed);
        assert!(!inside.exists());
    }
}
