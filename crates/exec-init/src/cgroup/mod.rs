//! The control groups of a cell: made by the keeper, joined and read by PID 1, emptied and removed by the keeper.
//!
//! One type covers both of the kernel's interfaces. A limit that could not be set is a note, never an error:
//! the host decides what to do about it. Must not know frames, namespaces or commands.

mod files;
mod find;
mod kill;
mod leaf;
mod make;
mod systemd;
mod v2;

pub(crate) use make::Killing;

use std::cell::OnceCell;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use exec_wire::{CgroupVersion, Note, ReadBack, Subject};
use rustix::fs::{Mode, OFlags, open};

/// The groups that hold the cell's limits.
#[derive(Debug)]
pub(crate) struct Cgroup {
    version: CgroupVersion,
    groups: Vec<Group>,
    meters: OnceCell<Meters>,
}

/// The counter files, kept open because they are read at the end of every command while the host waits.
#[derive(Debug)]
struct Meters {
    peak_memory: Option<OwnedFd>,
    memory_events: Option<OwnedFd>,
    pids_events: Option<OwnedFd>,
}

/// One directory of one hierarchy.
#[derive(Debug)]
struct Group {
    dir: OwnedFd,
    roles: Roles,
    origin: Origin,
}

/// The origin of a group.
#[derive(Debug)]
enum Origin {
    /// It existed before: nothing in it is ours to kill.
    Found,
    /// We made it.
    Made(Made),
    /// Our keeper made it and removes it.
    Joined,
}

/// The means to join a group and to remove it again.
#[derive(Debug)]
struct Made {
    parent: OwnedFd,
    name: String,
    /// Opened for the process that joins; permission is checked at open.
    join: OwnedFd,
    /// The delegation to undo once the group is gone.
    leaf: Option<leaf::Leaf>,
}

/// The purposes of a group.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "a set: any of them may go with any other")]
struct Roles {
    memory: bool,
    pids: bool,
    cpu: bool,
    /// In the unified hierarchy, where a process can be born in a group and a whole group can be killed.
    unified: bool,
}

/// The groups' counters so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counters {
    /// Peak memory use in bytes.
    pub(crate) peak_memory: Option<u64>,
    /// Processes killed because memory ran out.
    pub(crate) oom_kills: u64,
    /// Forks refused by the limit.
    pub(crate) pids_denied: u64,
}

impl Cgroup {
    /// The groups of the container this process is in, read-only.
    pub(crate) fn discover() -> Option<Self> {
        let found = find::Hierarchies::of_self();
        let open_dir = |place: find::Place| {
            open(&place.dir, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok()
        };
        if let Some(dir) = found.v2().and_then(open_dir)
            && files::read(&dir, "cgroup.controllers").is_some_and(|list| v2::has_any(&list))
        {
            let roles = Roles { memory: true, pids: true, cpu: true, unified: true };
            return Some(Self {
                version: CgroupVersion::V2,
                groups: vec![Group { dir, roles, origin: Origin::Found }],
                meters: OnceCell::new(),
            });
        }
        let groups: Vec<_> = make::V1_CONTROLLERS
            .iter()
            .filter_map(|(limit, roles)| {
                Some(Group {
                    dir: found.v1(limit.name()).and_then(open_dir)?,
                    roles: *roles,
                    origin: Origin::Found,
                })
            })
            .collect();
        (!groups.is_empty()).then_some(Self { version: CgroupVersion::V1, groups, meters: OnceCell::new() })
    }

    /// The limits in force, as the kernel reports them.
    pub(crate) fn read_back(&self) -> ReadBack {
        let memory = self.dir(|roles| roles.memory);
        let pids = self.dir(|roles| roles.pids);
        let cpu = self.dir(|roles| roles.cpu);
        let (memory, pids, cpu_milli) = match self.version {
            CgroupVersion::V1 => (
                memory.and_then(|dir| files::read_limit(dir, "memory.limit_in_bytes")),
                pids.and_then(|dir| files::read_limit(dir, "pids.max")),
                cpu.and_then(make::v1_cpu_milli),
            ),
            CgroupVersion::V2 => (
                memory.and_then(|dir| files::read_limit(dir, "memory.max")),
                pids.and_then(|dir| files::read_limit(dir, "pids.max")),
                cpu.and_then(|dir| v2::cpu_milli(&files::read(dir, "cpu.max")?)),
            ),
        };
        // PID 1 is in the group but does not count as the command's.
        let pids = pids.map(|max| max.saturating_sub(1));
        let holds_limits = self.groups.iter().any(|group| group.roles.limits().next().is_some());
        ReadBack { cgroup: holds_limits.then_some(self.version), memory, pids, cpu_milli }
    }

    /// The counters so far.
    pub(crate) fn counters(&self) -> Counters {
        let meters = self.meters.get_or_init(|| self.open_meters());
        let now = |meter: &Option<OwnedFd>| files::read_again(meter.as_ref()?);
        let count = |meter, key| now(meter).and_then(|text| files::key_in(&text, key)).unwrap_or(0);
        Counters {
            peak_memory: now(&meters.peak_memory).and_then(|text| files::limit_in(&text)),
            oom_kills: count(&meters.memory_events, "oom_kill"),
            pids_denied: count(&meters.pids_events, "max"),
        }
    }

    fn open_meters(&self) -> Meters {
        let memory = self.dir(|roles| roles.memory);
        let (peak, events) = match self.version {
            CgroupVersion::V1 => ("memory.max_usage_in_bytes", "memory.oom_control"),
            CgroupVersion::V2 => ("memory.peak", "memory.events"),
        };
        let open = |dir: Option<BorrowedFd<'_>>, name| files::open_for_reading(dir?, name);
        Meters {
            peak_memory: open(memory, peak),
            memory_events: open(memory, events),
            pids_events: open(self.dir(|roles| roles.pids), "pids.events"),
        }
    }

    /// The group in which a process can be born.
    pub(crate) fn birthplace(&self) -> Option<BorrowedFd<'_>> {
        self.dir(|roles| roles.unified)
    }

    /// Moves this process into every group except those it was born in. A group that refuses limits nothing:
    /// it is dropped, with a note.
    pub(crate) fn join(&mut self, born_inside: bool, notes: &mut Vec<Note>) {
        self.groups.retain_mut(|group| {
            let Origin::Made(made) = &group.origin else { return true };
            let joined =
                if group.roles.unified && born_inside { Ok(()) } else { files::put(&made.join, "0") };
            match joined {
                Ok(()) => {
                    // This drops the descriptors that lead to the host's groups.
                    group.origin = Origin::Joined;
                    true
                }
                Err(why) => {
                    notes.extend(
                        group
                            .roles
                            .limits()
                            .map(|limit| Note::new(limit, format_args!("entering the control group: {why}"))),
                    );
                    false
                }
            }
        });
    }

    fn dir(&self, wanted: impl Fn(&Roles) -> bool) -> Option<BorrowedFd<'_>> {
        self.groups.iter().find(|group| wanted(&group.roles)).map(|group| group.dir.as_fd())
    }
}

impl Roles {
    fn limits(self) -> impl Iterator<Item = Subject> {
        let all = [(self.memory, Subject::Memory), (self.pids, Subject::Pids), (self.cpu, Subject::Cpu)];
        all.into_iter().filter_map(|(is, limit)| is.then_some(limit))
    }
}

#[cfg(test)]
mod tests;
