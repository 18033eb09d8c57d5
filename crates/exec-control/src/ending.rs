//! Ends cells from outside, regardless of their owner, and reports success only when no process of them is left.
//!
//! First the processes in the cell's control groups, frozen, and its PID 1, with which the kernel ends the rest;
//! then every process found to be a member, except the keeper, which cleans up; if that was not enough, all
//! members, the keeper included. Signals go only through a pidfd whose process was checked again after opening.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::cgroup_kill::kill_groups;
use crate::groups;
use crate::members::{Census, group_name};
use crate::process::{Process, start_time};
use crate::procfs;
use crate::record::{CellRecord, Place, RunRecord};
use crate::snapshot::{self, Seen};

/// If a cell is not gone after this time, the gentler means have failed.
const PATIENCE: Duration = Duration::from_millis(700);

/// The pause between two checks; it doubles up to the longest.
const FIRST_LOOK: Duration = Duration::from_millis(2);
const LONGEST_LOOK: Duration = Duration::from_millis(50);

/// A process that could not be ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Survivor {
    /// The cell it is in.
    pub cell: String,
    /// Its number.
    pub pid: u32,
    /// Its name.
    pub name: String,
    /// The kernel's letter for its state; `D` can't be interrupted.
    pub state: char,
    /// The kernel function it waits in, if known.
    pub waits_in: Option<String>,
}

/// Kills all processes of these cells and waits up to `limit` until they are gone. Returns the survivors.
pub fn end_all(cells: &[CellRecord], limit: Duration) -> Vec<Survivor> {
    let mut first_blow: Option<Instant> = None;
    let mut look = FIRST_LOOK;
    kill_groups(cells);
    cells.iter().for_each(kill_first_process);
    loop {
        let seen = snapshot::take();
        let census = Census::of(&seen);
        let alive: Vec<&CellRecord> = cells.iter().filter(|cell| !census.members(cell).is_empty()).collect();
        if alive.is_empty() {
            return Vec::new();
        }
        // With fork bombs around, one check can take longer than the limit, so it counts from the first kill after
        // a check.
        if first_blow.is_some_and(|blow| blow.elapsed() >= limit) {
            return alive.iter().flat_map(|cell| survivors(cell, &census.members(cell))).collect();
        }
        let is_patient = first_blow.get_or_insert_with(Instant::now).elapsed() < PATIENCE;
        for cell in alive {
            if is_patient {
                // PID 1 takes all others with it, but among many processes that want the CPU it may be scheduled
                // late.
                census.heads(cell).into_iter().chain(census.inside(cell)).for_each(kill);
            } else {
                by_force(cell, &census.members(cell));
            }
        }
        std::thread::sleep(look);
        look = (look * 2).min(LONGEST_LOOK);
    }
}

/// Kills one run of a cell that serves others too: its first process, that process's descendants and its session. A
/// process that has left both belongs to the cell and ends with it. Returns the survivors.
pub fn end_run(cell: &CellRecord, run: &RunRecord, limit: Duration) -> Vec<Survivor> {
    let mut first_blow: Option<Instant> = None;
    let mut look = FIRST_LOOK;
    let mut found: Vec<Process> = Vec::new();
    loop {
        let seen = snapshot::take();
        let census = Census::of(&seen);
        for seen in census.of_run(cell, run) {
            if !found.contains(&seen.process) {
                found.push(seen.process);
            }
        }
        let left: Vec<&Seen> =
            seen.iter().filter(|seen| seen.stat.is_alive() && found.contains(&seen.process)).collect();
        if left.is_empty() {
            return Vec::new();
        }
        if first_blow.is_some_and(|blow| blow.elapsed() >= limit) {
            return survivors(cell, &left);
        }
        first_blow.get_or_insert_with(Instant::now);
        left.into_iter().for_each(kill);
        std::thread::sleep(look);
        look = (look * 2).min(LONGEST_LOOK);
    }
}

/// Sends SIGTERM to one run of a cell that serves others too.
pub fn ask_run(cell: &CellRecord, run: &RunRecord) {
    let seen = snapshot::take();
    Census::of(&seen).of_run(cell, run).iter().for_each(|seen| signal(seen.process, Signal::Ask));
}

/// Sends SIGTERM to the commands of these cells: the children of each keeper or PID 1.
pub fn ask_all(cells: &[CellRecord]) {
    let seen = snapshot::take();
    let census = Census::of(&seen);
    for cell in cells {
        let heads: Vec<u32> = census.heads(cell).iter().map(|seen| seen.process.pid).collect();
        let is_group = matches!(cell.place, Some(Place::Group { .. }));
        let members = census.members(cell);
        // PID 1 is ours and ignores SIGTERM; its children are the commands.
        let commands = members.iter().filter(|seen| is_group || heads.contains(&seen.stat.parent));
        commands.for_each(|seen| signal(seen.process, Signal::Ask));
    }
}

/// Whether any process of a cell is alive.
pub fn is_alive(cell: &CellRecord) -> bool {
    is_any_alive(std::slice::from_ref(cell))
}

/// Whether any process of any of these cells is alive.
pub(crate) fn is_any_alive(cells: &[CellRecord]) -> bool {
    let seen = snapshot::take();
    let census = Census::of(&seen);
    cells.iter().any(|cell| !census.members(cell).is_empty())
}

/// Kills the child of a cell's keeper, which is the cell's PID 1, without a scan of all processes: in a cell
/// without a control group, that scan is the slow part.
fn kill_first_process(cell: &CellRecord) {
    let Some(Place::Keeper { keeper, .. }) = &cell.place else { return };
    let children = procfs::read(&format!("{0}/task/{0}/children", keeper.pid)).unwrap_or_default();
    for pid in children.split_whitespace() {
        let Some(stat) = procfs::stat(pid).filter(|stat| stat.parent == keeper.pid) else { continue };
        // While its parent is the keeper in the record, the process belongs to the cell.
        if let (Ok(pid), true) = (pid.parse(), Process::now(keeper.pid) == Some(*keeper)) {
            signal(Process { pid, start: stat.start }, Signal::Kill);
        }
    }
}

/// Kills the members one by one. This terminates because a frozen group can't start new processes.
fn by_force(cell: &CellRecord, members: &[&Seen]) {
    let groups = group_name(cell).map(|name| groups::of(name, members)).unwrap_or_default();
    groups.freeze();
    groups.kill();
    members.iter().copied().for_each(kill);
    groups.thaw();
}

fn kill(seen: &Seen) {
    signal(seen.process, Signal::Kill);
}

#[derive(Debug, Clone, Copy)]
enum Signal {
    Ask,
    Kill,
}

#[cfg(target_os = "linux")]
fn signal(process: Process, signal: Signal) {
    use rustix::process::{Pid, PidfdFlags, Signal as Raw, pidfd_open, pidfd_send_signal};
    let Some(pid) = i32::try_from(process.pid).ok().and_then(Pid::from_raw) else { return };
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return };
    // The pid may have been reused; the pidfd keeps its process, so check again.
    if start_time(&process.pid.to_string()) == Some(process.start) {
        let raw = match signal {
            Signal::Ask => Raw::TERM,
            Signal::Kill => Raw::KILL,
        };
        let sent = pidfd_send_signal(&handle, raw);
        tracing::debug!(pid = process.pid, ?signal, ?sent, "signalled from outside");
    }
}

/// On this platform a reused pid can't be detected, so nothing is signalled.
#[cfg(not(target_os = "linux"))]
fn signal(process: Process, signal: Signal) {
    let _ = (process, signal, start_time);
}

/// Uninterruptible processes come first: the others wait because of them.
fn survivors(cell: &CellRecord, members: &[&Seen]) -> Vec<Survivor> {
    let keeper = match &cell.place {
        Some(Place::Keeper { keeper, .. }) => Some(*keeper),
        _ => None,
    };
    let mut left: Vec<&&Seen> = members.iter().filter(|seen| Some(seen.process) != keeper).collect();
    if left.is_empty() {
        left = members.iter().collect();
    }
    left.sort_by_key(|seen| seen.stat.state != 'D');
    let survivor = |seen: &&Seen| Survivor {
        cell: cell.name.clone(),
        pid: seen.process.pid,
        name: seen.stat.name.clone(),
        state: seen.stat.state,
        waits_in: waits_in(seen.process.pid),
    };
    left.into_iter().map(survivor).collect()
}

fn waits_in(pid: u32) -> Option<String> {
    let place = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("wchan")).ok()?;
    Some(place.trim().to_owned()).filter(|place| !place.is_empty() && place != "0")
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;
    use crate::owner::Owner;
    use crate::record::Moment;

    fn kept_by(keeper: Process) -> CellRecord {
        CellRecord {
            name: "agentctl-test-0-0123456789ab".into(),
            backend: "local".into(),
            owner: Owner::this_process(),
            since: Moment::now(),
            place: Some(Place::Keeper { keeper, scratch: None }),
            session: None,
        }
    }

    fn shell(script: &str) -> (Child, CellRecord) {
        let child = Command::new("sh").args(["-c", script]).spawn().unwrap();
        let cell = kept_by(Process::now(child.id()).unwrap());
        (child, cell)
    }

    /// R13: the keeper here is a shell that does not exit by itself.
    #[test]
    fn a_family_ends_with_its_keeper() {
        let (mut child, cell) = shell("sleep 1000 & sleep 1000 & while :; do sleep 1; done");
        assert!(is_alive(&cell));
        assert_eq!(end_all(std::slice::from_ref(&cell), Duration::from_secs(20)), []);
        assert!(!is_alive(&cell));
        child.wait().unwrap();
    }

    /// R13: with fork bombs around, the first check can take longer than the limit.
    #[test]
    fn however_long_a_look_takes_everybody_is_hit() {
        let (mut child, mut cell) = shell("exec sleep 1000");
        cell.place = Some(Place::Group { leader: Process::now(child.id()).unwrap() });
        end_all(&[cell], Duration::ZERO);
        let is_hit = (0..500).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            child.try_wait().unwrap().is_some()
        });
        child.kill().unwrap();
        assert!(is_hit);
    }

    /// R13
    #[test]
    fn the_first_process_is_known_by_its_parent() {
        let (mut child, cell) = shell("sleep 1000; exit 7");
        let is_there =
            || procfs::read(&format!("{0}/task/{0}/children", child.id())).is_some_and(|c| !c.is_empty());
        while !is_there() {
            std::thread::sleep(Duration::from_millis(2));
        }
        kill_first_process(&cell);
        assert_eq!(child.wait().unwrap().code(), Some(7), "its keeper goes on");
    }

    /// F12: the record is older than the process that has the pid now.
    #[test]
    fn a_stranger_with_the_same_number_is_unharmed() {
        let (mut child, _) = shell("exec sleep 1000");
        let now = Process::now(child.id()).unwrap();
        let stale = kept_by(Process { start: now.start - 1, ..now });
        assert_eq!(end_all(&[stale], Duration::from_secs(20)), []);
        signal(Process { start: now.start - 1, ..now }, Signal::Kill);
        assert!(!now.is_dead() && child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
