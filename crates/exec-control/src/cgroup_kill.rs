//! The first step of a kill: everything in the control groups of cells, found by the names of the groups.
//!
//! A scan of all processes takes long while hundreds of them fork, and our own go on meanwhile. A walk through the
//! control groups scans no process. Groups that can be frozen are frozen first: then nothing new starts between the
//! look and the kill, and the dying processes get the CPU.
//!
//! It proves nothing; the caller scans all processes afterwards.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::groups::{Groups, Mounts};
use crate::members::{group_name, is_in, is_named_after};
#[cfg(target_os = "linux")]
use crate::procfs;
use crate::record::{CellRecord, Place};

/// How long groups may take to freeze; after that, processes are killed as they run.
const STANDSTILL: Duration = Duration::from_millis(200);

const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// Kills the processes in the control groups of these cells, except their keepers, which clean up.
pub(crate) fn kill_groups(cells: &[CellRecord]) {
    let names: Vec<&str> = cells.iter().filter_map(group_name).collect();
    if names.is_empty() {
        return;
    }
    let found = Found::below(&Mounts::read(), &names);
    found.groups.freeze();
    found.groups.kill();
    found.groups.await_standstill(Instant::now() + STANDSTILL, LOOK_AGAIN);
    let keepers: BTreeSet<u32> = cells.iter().filter_map(keeper).collect();
    for (pid, name) in found.processes() {
        if !keepers.contains(&pid) {
            kill(pid, name);
        }
    }
    found.groups.thaw();
}

fn keeper(cell: &CellRecord) -> Option<u32> {
    match &cell.place {
        Some(Place::Keeper { keeper, .. }) => Some(keeper.pid),
        _ => None,
    }
}

/// Control groups named after cells.
#[derive(Debug, Default)]
struct Found<'a> {
    groups: Groups,
    /// The groups, including those below them, whose processes are listed; each with its cell's name.
    listed: Vec<(PathBuf, &'a str)>,
}

impl<'a> Found<'a> {
    fn below(mounts: &Mounts, names: &[&'a str]) -> Self {
        let mut found = Self::default();
        for mount in mounts.with_all_members() {
            let mut here = Vec::new();
            find(mount, names, &mut here);
            for (group, name) in here {
                found.groups.add(mounts, mount, &group);
                with_all_below(&group, &mut |group| found.listed.push((group, name)));
            }
        }
        found
    }

    /// Every process once, although most are in several hierarchies.
    fn processes(&self) -> BTreeSet<(u32, &'a str)> {
        let listed = self.listed.iter().flat_map(|(group, name)| {
            let list = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
            list.lines().filter_map(|pid| Some((pid.parse().ok()?, *name))).collect::<Vec<_>>()
        });
        listed.collect()
    }
}

/// Finds the groups of these names below a directory, but not groups nested in them.
pub(crate) fn find<'a>(directory: &Path, names: &[&'a str], found: &mut Vec<(PathBuf, &'a str)>) {
    for (path, name) in below(directory) {
        match names.iter().find(|wanted| name == **wanted || is_named_after(&name, wanted)) {
            Some(wanted) => found.push((path, wanted)),
            None => find(&path, names, found),
        }
    }
}

fn with_all_below(group: &Path, take: &mut impl FnMut(PathBuf)) {
    take(group.to_owned());
    for (path, _) in below(group) {
        with_all_below(&path, take);
    }
}

/// The subdirectories of a directory, with their names.
fn below(directory: &Path) -> impl Iterator<Item = (PathBuf, String)> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    directories.filter_map(|entry| Some((entry.path(), entry.file_name().into_string().ok()?)))
}

/// Kills a process if it is in the group. The pid may have been reused; the pidfd keeps its process, so check
/// again.
#[cfg(target_os = "linux")]
fn kill(pid: u32, group: &str) {
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
    let Some(number) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return };
    let Ok(handle) = pidfd_open(number, PidfdFlags::empty()) else { return };
    let groups = procfs::read(&format!("{pid}/cgroup")).unwrap_or_default();
    if is_in(&groups, group) {
        let sent = pidfd_send_signal(&handle, Signal::KILL);
        tracing::debug!(pid, ?sent, "killed with its control group");
    }
}

/// Control groups exist on Linux only.
#[cfg(not(target_os = "linux"))]
fn kill(pid: u32, group: &str) {
    let _ = (pid, group, is_in as fn(&str, &str) -> bool);
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "2a86fc98406e6a8c1f66b6f2274b06345de3bbf966eba0e3a98785605345dd32";

    /// A37: groups with similar names are not found.
    #[test]
    fn groups_are_found_by_their_whole_names_wherever_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let mountinfo = format!(
            "32 31 0:29 / {0}/freezer rw - cgroup cgroup rw,freezer\n33 31 0:30 / {0}/cpu rw - cgroup cgroup rw,cpu\n",
            dir.path().display()
        );
        let mounts = Mounts::parse(mountinfo.as_bytes());
        let cell = "agentctl-7-0-0123456789ab";
        let scope = format!("system.slice/docker-{ID}.scope");
        for (group, processes) in [
            (format!("freezer/jobs/{cell}"), "11\n12\n"),
            (format!("freezer/jobs/{cell}/inner"), "13\n"),
            (format!("freezer/jobs/{cell}0"), "21\n"),
            (format!("freezer/{scope}"), "31\n"),
            (format!("freezer/docker/x{ID}"), "41\n"),
            (format!("cpu/{cell}"), "51\n"),
        ] {
            let group = dir.path().join(group);
            fs::create_dir_all(&group).unwrap();
            fs::write(group.join("cgroup.procs"), processes).unwrap();
        }
        let found = Found::below(&mounts, &[cell, ID]);
        let processes: Vec<(u32, &str)> = found.processes().into_iter().collect();
        assert_eq!(processes, [(11, cell), (12, cell), (13, cell), (31, ID)]);
    }

    /// F12: a list that is out of date.
    #[cfg(target_os = "linux")]
    #[test]
    fn who_is_not_in_the_group_is_not_killed() {
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        kill(child.id(), "agentctl-7-0-0123456789ab");
        std::thread::sleep(Duration::from_millis(50));
        assert!(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
