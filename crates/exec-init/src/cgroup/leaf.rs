//! Delegates controllers from a group that holds processes: the processes step aside into a leaf below it and
//! return when the last cell is gone.
//!
//! The kernel lets a group either hold processes or delegate controllers; only the root of the hierarchy may
//! do both. In a container, or in a service delegated to an ordinary user, our own group is the only one
//! available, and it holds us. The group is always restored: the leaf marks that there is something to undo,
//! and every keeper that removes a cell's group looks for it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{
    AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, flock, mkdirat, open, openat, unlinkat,
};
use rustix::io::Errno;

use super::files;

/// The group that holds the processes meanwhile.
pub(super) const LEAF: &str = "agentctl-aside";

/// How long to wait for another keeper, and for processes that fork while they are moved.
const PATIENCE: Duration = Duration::from_secs(2);

const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// What to do with the processes of the group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Processes {
    /// Move them into the leaf.
    StepAside,
    /// Leave them in the group.
    Stay,
}

/// A group whose processes have stepped aside. No other keeper changes it while this value is [locked](Self::enter).
#[derive(Debug)]
pub(super) struct Leaf {
    group: OwnedFd,
}

impl Leaf {
    /// Makes the group delegate those of these controllers that it has. Until [`unlock`](Self::unlock), no
    /// other keeper undoes it.
    pub(super) fn enter(group: &Path, controllers: &[&str], processes: Processes) -> Result<Self, String> {
        let failed = |what: &str, why: Errno| format!("{}: {what}: {why}", group.display());
        let dir = open(group, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            .map_err(|why| failed("open", why))?;
        lock(&dir).map_err(|why| failed("lock", why))?;
        let leaf = Self { group: dir };
        if leaf.open_leaf().is_err() && !leaf.handed().is_empty() {
            // Another program did this, so it is not ours to undo.
            return Err(format!("{} hands controllers on already", group.display()));
        }
        if let Err((what, why)) = leaf.step_aside(controllers, processes) {
            leaf.come_back();
            return Err(failed(what, why));
        }
        Ok(leaf)
    }

    /// Call when the cell's group exists: the group itself now keeps other keepers from undoing the
    /// delegation.
    pub(super) fn unlock(&self) {
        let _ = flock(&self.group, FlockOperation::Unlock);
    }

    /// Call when the cell's group is gone. Changes nothing while other groups remain.
    pub(super) fn leave(&self) {
        if lock(&self.group).is_ok() {
            self.come_back();
            self.unlock();
        }
    }

    fn step_aside(&self, controllers: &[&str], processes: Processes) -> Result<(), (&'static str, Errno)> {
        match mkdirat(&self.group, LEAF, Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(why) => return Err(("making a group", why)),
        }
        let leaf = self.open_leaf().map_err(|why| (LEAF, why))?;
        if processes == Processes::StepAside {
            move_all(self.group.as_fd(), leaf.as_fd()).map_err(|why| ("moving its processes aside", why))?;
        }
        let own = files::read(&self.group, "cgroup.controllers").unwrap_or_default();
        for controller in own.split_whitespace().filter(|name| controllers.contains(name)) {
            files::write(&self.group, "cgroup.subtree_control", &format!("+{controller}"))
                .map_err(|why| ("handing controllers on", why))?;
        }
        Ok(())
    }

    fn handed(&self) -> String {
        files::read(&self.group, "cgroup.subtree_control").unwrap_or_default().trim().to_owned()
    }

    fn come_back(&self) {
        if has_other_groups(self.group.as_fd()) {
            return;
        }
        let Ok(leaf) = self.open_leaf() else { return };
        for controller in self.handed().split_whitespace() {
            let _ = files::write(&self.group, "cgroup.subtree_control", &format!("-{controller}"));
        }
        if move_all(leaf.as_fd(), self.group.as_fd()).is_ok() {
            drop(leaf);
            let _ = unlinkat(&self.group, LEAF, AtFlags::REMOVEDIR);
        }
    }

    fn open_leaf(&self) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat(&self.group, LEAF, flags, Mode::empty())
    }
}

/// Waits for a bounded time, because another keeper may hold the lock.
fn lock(group: &OwnedFd) -> Result<(), Errno> {
    let end = Instant::now() + PATIENCE;
    loop {
        match flock(group, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < end => std::thread::sleep(LOOK_AGAIN),
            done => return done,
        }
    }
}

/// Repeats until no process is left, because processes may fork while they are moved.
fn move_all(from: BorrowedFd<'_>, to: BorrowedFd<'_>) -> Result<(), Errno> {
    let end = Instant::now() + PATIENCE;
    loop {
        let list = files::read(from, "cgroup.procs").ok_or(Errno::IO)?;
        if list.is_empty() {
            return Ok(());
        }
        for pid in list.lines() {
            match files::write(to, "cgroup.procs", pid) {
                // It has ended, or can't be moved yet.
                Ok(()) | Err(Errno::SRCH | Errno::AGAIN) => {}
                Err(why) => return Err(why),
            }
        }
        if Instant::now() >= end {
            return Err(Errno::BUSY);
        }
    }
}

fn has_other_groups(group: BorrowedFd<'_>) -> bool {
    let Ok(entries) = Dir::read_from(group) else { return true };
    entries.flatten().any(|entry| {
        let name = entry.file_name().to_bytes();
        entry.file_type() == FileType::Directory && name != b"." && name != b".." && name != LEAF.as_bytes()
    })
}
