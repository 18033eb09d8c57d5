//! A group that hands controllers on while it holds processes: they step aside into a leaf below it, and come back when the
//! last cell has gone.
//!
//! The kernel lets a group either hold processes or hand controllers on; the root of the hierarchy alone may do both. In a
//! container, or in a service that was delegated to an ordinary user, our own group is the only one there is, and it holds us.
//! Nothing of it is left changed: the leaf is the sign that there is something to undo, and every keeper that removes a cell's
//! group looks for it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{
    AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, flock, mkdirat, open, openat, unlinkat,
};
use rustix::io::Errno;

use super::files;

/// Where the processes wait.
pub(super) const LEAF: &str = "agentctl-aside";

/// How long another keeper may take, and processes that begin others meanwhile.
const PATIENCE: Duration = Duration::from_secs(2);

const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// What becomes of the processes of the group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Processes {
    /// They move into the leaf.
    StepAside,
    /// They are where they may be.
    Stay,
}

/// A group whose processes have stepped aside. No other keeper changes it while this value is [locked](Self::enter).
#[derive(Debug)]
pub(super) struct Leaf {
    group: OwnedFd,
}

impl Leaf {
    /// Has the group hand on what it has of these controllers. Until [`unlock`](Self::unlock), no other keeper undoes it.
    pub(super) fn enter(group: &Path, controllers: &[&str], processes: Processes) -> Result<Self, String> {
        let failed = |what: &str, why: Errno| format!("{}: {what}: {why}", group.display());
        let dir = open(group, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            .map_err(|why| failed("open", why))?;
        lock(&dir).map_err(|why| failed("lock", why))?;
        let leaf = Self { group: dir };
        if leaf.open_leaf().is_err() && !leaf.handed().is_empty() {
            // Somebody else's doing, which is not ours to undo.
            return Err(format!("{} hands controllers on already", group.display()));
        }
        if let Err((what, why)) = leaf.step_aside(controllers, processes) {
            leaf.come_back();
            return Err(failed(what, why));
        }
        Ok(leaf)
    }

    /// A cell's group is there now: that keeps the others from undoing it.
    pub(super) fn unlock(&self) {
        let _ = flock(&self.group, FlockOperation::Unlock);
    }

    /// To be called when the cell's group is gone. Leaves everything as it is while there are groups of others.
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

/// Somebody else may hold it: waits, but not for ever.
fn lock(group: &OwnedFd) -> Result<(), Errno> {
    let end = Instant::now() + PATIENCE;
    loop {
        match flock(group, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < end => std::thread::sleep(LOOK_AGAIN),
            done => return done,
        }
    }
}

/// Until none is left, for they may begin others while they are moved.
fn move_all(from: BorrowedFd<'_>, to: BorrowedFd<'_>) -> Result<(), Errno> {
    let end = Instant::now() + PATIENCE;
    loop {
        let list = files::read(from, "cgroup.procs").ok_or(Errno::IO)?;
        if list.is_empty() {
            return Ok(());
        }
        for pid in list.lines() {
            match files::write(to, "cgroup.procs", pid) {
                // It has ended, or does not move yet.
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
