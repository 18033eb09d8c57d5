//! Emptying and removing the groups of a cell.
//!
//! A process id read from a file may belong to another process by the time it is signalled, so every signal
//! here goes through a handle that was checked against the group after it was opened.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, unlinkat};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};

use super::leaf::Leaf;
use super::{Cgroup, Group, Origin, files};

/// How long dead processes may take to leave a group.
const PATIENCE: Duration = Duration::from_secs(2);

/// How deep to look for groups that commands made: each level costs a descriptor.
const DEPTH: u32 = 64;

impl Cgroup {
    /// Kills the processes in the cell's own groups, except this one. From outside the groups one call is
    /// thorough; a caller inside repeats it until no process is left.
    pub(crate) fn kill_all(&self) {
        let ours = || self.groups.iter().filter(|group| !matches!(group.origin, Origin::Found));
        let Some(first) = ours().next() else { return };
        if members(first).contains(&getpid()) {
            // The kernel's kill of a whole group would not spare us.
            kill_listed(first);
            return;
        }
        let unified = ours().find(|group| group.roles.unified);
        if unified.is_some_and(|group| files::write(&group.dir, "cgroup.kill", "1").is_ok()) {
            return;
        }
        for group in ours().filter(|group| group.roles.pids) {
            // From here on nothing in the group can fork, so killing one by one terminates.
            let _ = files::write(&group.dir, "pids.max", "0");
        }
        let end = Instant::now() + PATIENCE;
        while kill_listed(first) && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Removes the groups we made; returns those that could not be removed.
    pub(crate) fn remove(&self) -> Vec<String> {
        let end = Instant::now() + PATIENCE;
        let made = self.groups.iter().filter_map(|group| match &group.origin {
            Origin::Made(made) => Some(made),
            Origin::Found | Origin::Joined => None,
        });
        let left = made.clone().filter(|made| !remove_by(made.parent.as_fd(), &made.name, end));
        let left = left.map(|made| made.name.clone()).collect();
        made.filter_map(|made| made.leaf.as_ref()).for_each(Leaf::leave);
        left
    }
}

/// One round; returns whether there was anything to kill.
fn kill_listed(group: &Group) -> bool {
    let own = getpid();
    let handles: Vec<(Pid, OwnedFd)> = members(group)
        .into_iter()
        .filter(|pid| *pid != own)
        .filter_map(|pid| Some((pid, pidfd_open(pid, PidfdFlags::empty()).ok()?)))
        .collect();
    let still = members(group);
    for (pid, handle) in &handles {
        if still.contains(pid) {
            let _ = pidfd_send_signal(handle, Signal::KILL);
        }
    }
    !handles.is_empty()
}

fn members(group: &Group) -> Vec<Pid> {
    let list = files::read(&group.dir, "cgroup.procs").unwrap_or_default();
    list.lines().filter_map(|line| Pid::from_raw(line.parse().ok()?)).collect()
}

/// A group stays busy for an instant after its last process died: the kernel releases dead processes a little
/// later.
fn remove_by(parent: BorrowedFd<'_>, name: &str, end: Instant) -> bool {
    loop {
        match unlinkat(parent, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => return true,
            Err(Errno::BUSY | Errno::NOTEMPTY) if Instant::now() < end => {
                remove_children(parent, name, DEPTH);
                std::thread::sleep(Duration::from_micros(500));
            }
            Err(_) => return false,
        }
    }
}

pub(super) fn remove_dir(parent: impl AsFd, name: &str) {
    let _ = unlinkat(parent, name, AtFlags::REMOVEDIR);
}

/// A command with write access to its group's directory may have made groups below it.
fn remove_children(parent: BorrowedFd<'_>, name: &str, depth: u32) {
    if depth == 0 {
        return;
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(dir) = openat(parent, name, flags, Mode::empty()) else { return };
    let Ok(entries) = Dir::read_from(&dir) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy();
        if entry.file_type() == FileType::Directory && name != "." && name != ".." {
            remove_children(dir.as_fd(), &name, depth - 1);
            remove_dir(&dir, &name);
        }
    }
}
