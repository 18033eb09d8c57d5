//! The unified hierarchy: a group gets a controller only from its parent, and a parent that hands controllers out
//! may hold no processes itself.
//!
//! So there are two places for a cell's group: below our own, where that holds no processes (or is the root), and
//! beside our own, where our parent hands the controllers out already and lets us in (a delegated slice does).

use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use exec_wire::CgroupPlan;
use rustix::fs::{Mode, OFlags, open};

use super::find::Place;
use super::make::{PERIOD_US, make_dir, quota_us, set, swap_in_use, with_init};
use super::{Group, Roles, files};

const CONTROLLERS: [&str; 3] = ["memory", "pids", "cpu"];

/// Whether a list of controllers has one that a cell's limits need.
pub(super) fn has_any(list: &str) -> bool {
    list.split_whitespace().any(|name| CONTROLLERS.contains(&name))
}

/// The group with the limits; `None` where this hierarchy has no controllers for us, and the other may have.
pub(super) fn make(place: &Place, plan: &CgroupPlan, notes: &mut Vec<String>) -> Option<Group> {
    let own = open_dir(&place.dir)?;
    if !has_any(&files::read(&own, "cgroup.controllers")?) {
        return None;
    }
    let mut why = String::from("no controllers can be handed on");
    for parent in candidates(place) {
        let Some(dir) = open_dir(parent) else { continue };
        let handed = hand_on(dir.as_fd());
        if handed.names().next().is_none() {
            continue;
        }
        match make_dir(parent, plan, handed, "cgroup.procs") {
            Ok(group) => {
                note_missing(plan, handed, notes);
                limit(group.dir.as_fd(), plan, handed, notes);
                return Some(group);
            }
            Err(error) => why = format!("{}: {error}", parent.display()),
        }
    }
    let none = Roles::default();
    for (limit, _) in missing(plan, none) {
        notes.push(format!("{limit}: no control group: {why}"));
    }
    None
}

/// A group without limits.
pub(super) fn make_bare(place: &Place, plan: &CgroupPlan) -> Option<Group> {
    make_dir(&place.dir, plan, Roles { unified: true, ..Roles::default() }, "cgroup.procs").ok()
}

fn candidates(place: &Place) -> impl Iterator<Item = &Path> {
    let beside = place.dir.parent().filter(|_| place.has_parent);
    std::iter::once(place.dir.as_path()).chain(beside)
}

fn open_dir(path: &Path) -> Option<std::os::fd::OwnedFd> {
    open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok()
}

/// Has a group hand its controllers on to its children, and says which it does.
fn hand_on(dir: BorrowedFd<'_>) -> Roles {
    let handed = || files::read(dir, "cgroup.subtree_control").unwrap_or_default();
    let before = handed();
    for name in CONTROLLERS {
        if !has(&before, name) {
            // Refused while the group holds processes, or where it is not ours to change: what counts is
            // what the file says afterwards.
            let _ = files::write(dir, "cgroup.subtree_control", &format!("+{name}"));
        }
    }
    let after = handed();
    Roles { memory: has(&after, "memory"), pids: has(&after, "pids"), cpu: has(&after, "cpu"), unified: true }
}

fn has(list: &str, name: &str) -> bool {
    list.split_whitespace().any(|item| item == name)
}

fn missing(plan: &CgroupPlan, handed: Roles) -> impl Iterator<Item = (&'static str, u64)> {
    [
        ("memory", plan.memory.filter(|_| !handed.memory)),
        ("pids", plan.pids.filter(|_| !handed.pids)),
        ("cpu", plan.cpu_milli.filter(|_| !handed.cpu)),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
}

fn note_missing(plan: &CgroupPlan, handed: Roles, notes: &mut Vec<String>) {
    for (limit, _) in missing(plan, handed) {
        notes.push(format!("{limit}: no control group: the controller is not handed down to us"));
    }
}

fn limit(dir: BorrowedFd<'_>, plan: &CgroupPlan, handed: Roles, notes: &mut Vec<String>) {
    let mut note = |controller, result: Result<(), String>| {
        if let Err(why) = result {
            notes.push(format!("{controller}: setting the limit: {why}"));
        }
    };
    if handed.memory {
        note("memory", memory(dir, plan));
    }
    if handed.pids {
        note("pids", set(dir, "pids.max", plan.pids.map(with_init)));
    }
    if let Some(milli) = plan.cpu_milli.filter(|_| handed.cpu) {
        let value = format!("{} {PERIOD_US}", quota_us(milli));
        note("cpu", files::write(dir, "cpu.max", &value).map_err(|why| format!("cpu.max: {why}")));
    }
}

/// Swap has a limit of its own here: none of it, so that the one number holds for both together.
fn memory(dir: BorrowedFd<'_>, plan: &CgroupPlan) -> Result<(), String> {
    set(dir, "memory.max", plan.memory)?;
    match set(dir, "memory.swap.max", plan.memory.map(|_| 0)) {
        Err(why) if swap_in_use() => Err(format!("{why} (swap is not counted)")),
        _ => Ok(()),
    }
}

/// `quota period`, or `max period`.
pub(super) fn cpu_milli(text: &str) -> Option<u64> {
    let mut fields = text.split_whitespace();
    let quota: u64 = fields.next()?.parse().ok()?;
    let period: u64 = fields.next()?.parse().ok()?;
    quota.saturating_mul(1000).checked_div(period)
}
