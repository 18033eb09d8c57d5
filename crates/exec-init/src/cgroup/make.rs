//! Creates a cell's groups below the keeper's own and sets the cell's limits in them.
//!
//! Version 1 is here; the unified hierarchy with its stricter rules is in [`super::v2`].

use std::cell::OnceCell;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use exec_wire::{CgroupPlan, CgroupVersion, Note, Subject};
use rustix::fs::{Mode, OFlags, mkdirat, open, openat};
use rustix::io::Errno;

use super::find::{Hierarchies, Place};
use super::{Cgroup, Group, Made, Origin, Roles, files, v2};

/// The version 1 hierarchies that hold a limit.
pub(super) const V1_CONTROLLERS: [(Subject, Roles); 3] = [
    (Subject::Memory, Roles { memory: true, pids: false, cpu: false, unified: false }),
    (Subject::Pids, Roles { memory: false, pids: true, cpu: false, unified: false }),
    (Subject::Cpu, Roles { memory: false, pids: false, cpu: true, unified: false }),
];

/// The length of a scheduling period, the kernel's own default.
pub(super) const PERIOD_US: u64 = 100_000;

/// How the processes of the cell are ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Killing {
    /// By their PID namespace; groups only hold limits.
    ByNamespace,
    /// By the group, as far as it can.
    ByGroup,
}

impl Cgroup {
    /// Makes the groups of a plan. Every failure becomes a note; `None` without any group.
    pub(crate) fn make(plan: &CgroupPlan, killing: Killing, notes: &mut Vec<Note>) -> Option<Self> {
        if plan.name.is_empty() || plan.name.contains(['/', '\0']) || plan.name.starts_with('.') {
            let why = format_args!("`{}` is not a valid name for a group", plan.name);
            notes.push(Note::new(Subject::ControlGroups, why));
            return None;
        }
        let found = Hierarchies::of_self();
        if let Some(place) = found.v2()
            && holds_limits(&found, &place)
        {
            let group = v2::make(&place, plan, killing, notes)?;
            return Some(Self { version: CgroupVersion::V2, groups: vec![group], meters: OnceCell::new() });
        }
        let mut groups: Vec<_> = V1_CONTROLLERS
            .into_iter()
            .filter(|(_, roles)| wanted(plan, *roles))
            .filter_map(|(limit, roles)| v1_group(&found, limit, roles, plan, notes))
            .collect();
        if killing == Killing::ByGroup {
            // On a hybrid host the unified hierarchy holds no limits, but can kill a whole group at once.
            groups.extend(found.v2().and_then(|place| v2::make_bare(&place, plan)));
        }
        (!groups.is_empty()).then_some(Self { version: CgroupVersion::V1, groups, meters: OnceCell::new() })
    }
}

/// Whether the unified hierarchy holds the limits: on a hybrid host the version 1 hierarchies have the
/// controllers.
fn holds_limits(found: &Hierarchies, place: &Place) -> bool {
    let has_others = V1_CONTROLLERS.iter().any(|(limit, _)| found.v1(limit.name()).is_some());
    let list = open(&place.dir, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    let list = list.ok().and_then(|dir| files::read(dir, "cgroup.controllers")).unwrap_or_default();
    !has_others || v2::has_any(&list)
}

/// Memory always gets a group, because the group counts the peak and the OOM kills.
fn wanted(plan: &CgroupPlan, roles: Roles) -> bool {
    roles.memory || (roles.pids && plan.pids.is_some()) || (roles.cpu && plan.cpu_milli.is_some())
}

fn v1_group(
    found: &Hierarchies,
    limit: Subject,
    roles: Roles,
    plan: &CgroupPlan,
    notes: &mut Vec<Note>,
) -> Option<Group> {
    let result = match found.v1(limit.name()) {
        None => Err("the kernel's controller is not mounted".to_owned()),
        // Writing to `tasks` moves one thread, which the kernel does without waiting for every CPU.
        Some(place) => make_dir(&place.dir, plan, roles, "tasks")
            .map_err(|why| format!("{}: {why}", place.dir.display())),
    };
    let asked = (roles.memory && plan.memory.is_some()) || roles.pids || roles.cpu;
    let group = match result {
        Ok(group) => group,
        Err(why) => {
            if asked {
                notes.push(Note::new(limit, format_args!("no control group: {why}")));
            }
            return None;
        }
    };
    let set = match limit {
        Subject::Memory => v1_memory(group.dir.as_fd(), plan),
        Subject::Pids => set(group.dir.as_fd(), "pids.max", plan.pids.map(with_init)),
        _ => v1_cpu(group.dir.as_fd(), plan),
    };
    if let Err(why) = set {
        notes.push(Note::new(limit, format_args!("setting the limit: {why}")));
    }
    Some(group)
}

/// One more than the commands may have, because PID 1 shares their group.
pub(super) fn with_init(pids: u64) -> u64 {
    pids.saturating_add(1)
}

/// A new directory below `parent`, with the descriptors needed to enter and remove it.
pub(super) fn make_dir(
    parent: &Path,
    plan: &CgroupPlan,
    roles: Roles,
    entrance: &str,
) -> Result<Group, Errno> {
    let directory = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let parent = open(parent, directory, Mode::empty())?;
    mkdirat(&parent, plan.name.as_str(), Mode::from_raw_mode(0o755))?;
    let opened = openat(&parent, plan.name.as_str(), directory | OFlags::NOFOLLOW, Mode::empty())
        .and_then(|dir| Ok((files::open_for_writing(&dir, entrance)?, dir)));
    match opened {
        Ok((join, dir)) => Ok(Group { dir, roles, origin: Origin::Made(made(parent, plan, join)) }),
        Err(why) => {
            super::kill::remove_dir(&parent, &plan.name);
            Err(why)
        }
    }
}

fn made(parent: OwnedFd, plan: &CgroupPlan, join: OwnedFd) -> Made {
    Made { parent, name: plan.name.clone(), join, leaf: None }
}

pub(super) fn set(dir: BorrowedFd<'_>, file: &str, value: Option<u64>) -> Result<(), String> {
    match value {
        Some(value) => files::write(dir, file, &value.to_string()).map_err(|why| format!("{file}: {why}")),
        None => Ok(()),
    }
}

/// Sets memory first: the kernel refuses a sum of memory and swap below the limit of memory alone.
fn v1_memory(dir: BorrowedFd<'_>, plan: &CgroupPlan) -> Result<(), String> {
    set(dir, "memory.limit_in_bytes", plan.memory)?;
    match set(dir, "memory.memsw.limit_in_bytes", plan.memory) {
        Err(why) if swap_in_use() => Err(format!("{why} (swap is not counted)")),
        _ => Ok(()),
    }
}

/// Whether there is swap that a limit of memory alone would leave unlimited.
pub(super) fn swap_in_use() -> bool {
    std::fs::read_to_string("/proc/swaps").is_ok_and(|text| text.lines().count() > 1)
}

fn v1_cpu(dir: BorrowedFd<'_>, plan: &CgroupPlan) -> Result<(), String> {
    set(dir, "cpu.cfs_period_us", plan.cpu_milli.map(|_| PERIOD_US))?;
    set(dir, "cpu.cfs_quota_us", plan.cpu_milli.map(quota_us))
}

/// The kernel refuses quotas below a millisecond.
pub(super) fn quota_us(milli: u64) -> u64 {
    milli.saturating_mul(PERIOD_US / 1000).max(1000)
}

pub(super) fn v1_cpu_milli(dir: BorrowedFd<'_>) -> Option<u64> {
    let quota = files::read_limit(dir, "cpu.cfs_quota_us")?;
    let period = files::read_limit(dir, "cpu.cfs_period_us")?;
    quota.saturating_mul(1000).checked_div(period)
}
