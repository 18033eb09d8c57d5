//! The unified hierarchy: a group gets a controller only from its parent, and a parent that delegates
//! controllers may hold no processes itself.
//!
//! Our own group holds us, so a cell's group goes elsewhere; [`places`] lists where, best first. Every
//! existing group is restored.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use exec_wire::{CgroupPlan, Note, Subject};
use rustix::fs::{Access, Mode, OFlags, access, open};
use rustix::process::geteuid;

use super::find::Place;
use super::leaf::{Leaf, Processes};
use super::make::{Killing, PERIOD_US, make_dir, quota_us, set, swap_in_use, with_init};
use super::{Group, Origin, Roles, files, systemd};

const CONTROLLERS: [&str; 3] = ["memory", "pids", "cpu"];

/// The group of a keeper in its own scope, next to the cell's.
const KEEPER: &str = "keeper";

/// Whether a list of controllers has one that a cell's limits need.
pub(super) fn has_any(list: &str) -> bool {
    list.split_whitespace().any(|name| CONTROLLERS.contains(&name))
}

/// Makes the group with the limits. Every failure becomes a note.
pub(super) fn make(
    place: &Place,
    plan: &CgroupPlan,
    killing: Killing,
    notes: &mut Vec<Note>,
) -> Option<Group> {
    let mut why = Vec::new();
    for kind in places(place, systemd::is_here(), is_ours(place)) {
        match make_in(kind, place, plan) {
            Ok(group) => {
                note_missing(plan, group.roles, notes);
                limit(group.dir.as_fd(), plan, group.roles, notes);
                return Some(group);
            }
            Err(reason) => why.push(reason),
        }
    }
    let why =
        if why.is_empty() { format!("{} can't be written", place.dir.display()) } else { why.join("; ") };
    for (limit, _) in missing(plan, Roles::default()) {
        notes.push(Note::new(limit, format_args!("no control group: {why}")));
    }
    (killing == Killing::ByGroup).then(|| make_bare(place, plan)).flatten()
}

/// A group without limits.
pub(super) fn make_bare(place: &Place, plan: &CgroupPlan) -> Option<Group> {
    make_dir(&place.dir, plan, Roles { unified: true, ..Roles::default() }, "cgroup.procs").ok()
}

/// A place for a cell's group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// In its own scope, made by systemd.
    Scope,
    /// Below our own group, which is the root of the hierarchy: only the root may hold processes and delegate
    /// controllers.
    BelowRoot,
    /// Below our own group, after its processes step aside.
    Aside,
    /// Below our parent, if it already delegates controllers.
    Beside,
}

/// Best first. `ours` is our relation to our own group.
fn places(place: &Place, with_systemd: bool, ours: Ours) -> Vec<Kind> {
    // systemd may be reachable from a container, but its scopes are outside the container.
    let scope = (with_systemd && place.has_parent).then_some(Kind::Scope);
    let own = match ours {
        Ours::Root => return vec![Kind::BelowRoot],
        Ours::Delegated => Some(Kind::Aside),
        Ours::Not => None,
    };
    scope.into_iter().chain(own).chain(place.has_parent.then_some(Kind::Beside)).collect()
}

/// Our relation to our own group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ours {
    /// The root of the whole hierarchy.
    Root,
    /// The root of the visible part, or delegated to our user.
    Delegated,
    Not,
}

fn is_ours(place: &Place) -> Ours {
    if !place.dir.join("cgroup.type").exists() {
        return Ours::Root;
    }
    let is_writable = access(place.dir.join("cgroup.subtree_control"), Access::WRITE_OK).is_ok();
    // Root can write to every group, so write access does not mean delegation.
    let is_given = !place.has_parent || !geteuid().is_root();
    if is_writable && is_given { Ours::Delegated } else { Ours::Not }
}

fn make_in(kind: Kind, place: &Place, plan: &CgroupPlan) -> Result<Group, String> {
    match kind {
        Kind::Scope => {
            let scope = systemd::enter_scope(&plan.name, place, &CONTROLLERS)?;
            step_below(&scope.dir)?;
            hand_on(&scope.dir);
            in_parent(&scope.dir, plan)
        }
        // Controllers that others delegated stay; none are added.
        Kind::BelowRoot if handed(&place.dir).limits().next().is_some() => in_parent(&place.dir, plan),
        Kind::BelowRoot => below_own(&place.dir, plan, Processes::Stay),
        Kind::Aside => below_own(&place.dir, plan, Processes::StepAside),
        Kind::Beside => in_parent(place.dir.parent().unwrap_or(&place.dir), plan),
    }
}

/// Makes a group below one that delegates controllers only while there are cells.
fn below_own(own: &Path, plan: &CgroupPlan, processes: Processes) -> Result<Group, String> {
    let leaf = Leaf::enter(own, &CONTROLLERS, processes)?;
    match in_parent(own, plan) {
        Ok(mut group) => {
            leaf.unlock();
            if let Origin::Made(made) = &mut group.origin {
                made.leaf = Some(leaf);
            }
            Ok(group)
        }
        Err(why) => {
            leaf.leave();
            Err(why)
        }
    }
}

/// Makes a group below `parent`, with the controllers that `parent` delegates.
fn in_parent(parent: &Path, plan: &CgroupPlan) -> Result<Group, String> {
    let roles = handed(parent);
    if roles.limits().next().is_none() {
        return Err(format!("{} hands no controllers on", parent.display()));
    }
    make_dir(parent, plan, roles, "cgroup.procs").map_err(|why| format!("{}: {why}", parent.display()))
}

/// Leaves the group that is to delegate controllers.
fn step_below(scope: &Path) -> Result<(), String> {
    let keeper: PathBuf = scope.join(KEEPER);
    let failed = |why: &dyn std::fmt::Display| format!("{}: {why}", keeper.display());
    rustix::fs::mkdir(&keeper, Mode::from_raw_mode(0o755)).map_err(|why| failed(&why))?;
    let dir = open_dir(&keeper).ok_or_else(|| failed(&"it can't be opened"))?;
    files::write(dir, "cgroup.procs", "0").map_err(|why| failed(&why))
}

fn open_dir(path: &Path) -> Option<std::os::fd::OwnedFd> {
    open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok()
}

/// Makes a group delegate its controllers. A controller the group lacks can't be delegated, so callers read
/// the file back.
fn hand_on(group: &Path) {
    let Some(dir) = open_dir(group) else { return };
    for name in CONTROLLERS {
        let _ = files::write(&dir, "cgroup.subtree_control", &format!("+{name}"));
    }
}

fn handed(group: &Path) -> Roles {
    let list = open_dir(group).and_then(|dir| files::read(dir, "cgroup.subtree_control")).unwrap_or_default();
    Roles { memory: has(&list, "memory"), pids: has(&list, "pids"), cpu: has(&list, "cpu"), unified: true }
}

fn has(list: &str, name: &str) -> bool {
    list.split_whitespace().any(|item| item == name)
}

fn missing(plan: &CgroupPlan, handed: Roles) -> impl Iterator<Item = (Subject, u64)> {
    [
        (Subject::Memory, plan.memory.filter(|_| !handed.memory)),
        (Subject::Pids, plan.pids.filter(|_| !handed.pids)),
        (Subject::Cpu, plan.cpu_milli.filter(|_| !handed.cpu)),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
}

fn note_missing(plan: &CgroupPlan, handed: Roles, notes: &mut Vec<Note>) {
    for (limit, _) in missing(plan, handed) {
        notes.push(Note::new(limit, "no control group: the controller is not handed down to us"));
    }
}

fn limit(dir: BorrowedFd<'_>, plan: &CgroupPlan, handed: Roles, notes: &mut Vec<Note>) {
    let mut note = |limit, result: Result<(), String>| {
        if let Err(why) = result {
            notes.push(Note::new(limit, format_args!("setting the limit: {why}")));
        }
    };
    if handed.memory {
        note(Subject::Memory, memory(dir, plan));
    }
    if handed.pids {
        note(Subject::Pids, set(dir, "pids.max", plan.pids.map(with_init)));
    }
    if let Some(milli) = plan.cpu_milli.filter(|_| handed.cpu) {
        let value = format!("{} {PERIOD_US}", quota_us(milli));
        note(Subject::Cpu, files::write(dir, "cpu.max", &value).map_err(|why| format!("cpu.max: {why}")));
    }
}

/// Swap has its own limit here. It is set to zero, so that the one number covers both together.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_looked_for_where_nothing_has_to_be_changed_first() {
        let below = |has_parent| Place { dir: "/sys/fs/cgroup/x".into(), has_parent };
        let with = |has_parent, ours| places(&below(has_parent), true, ours);
        let without = |has_parent, ours| places(&below(has_parent), false, ours);
        assert_eq!(with(true, Ours::Not), [Kind::Scope, Kind::Beside]);
        assert_eq!(with(true, Ours::Delegated), [Kind::Scope, Kind::Aside, Kind::Beside]);
        assert_eq!(with(false, Ours::Delegated), [Kind::Aside], "a container that sees its host's systemd");
        assert_eq!(without(false, Ours::Delegated), [Kind::Aside]);
        assert_eq!(without(true, Ours::Not), [Kind::Beside]);
        assert_eq!(without(false, Ours::Not), []);
        assert_eq!(without(false, Ours::Root), [Kind::BelowRoot]);
    }
}
