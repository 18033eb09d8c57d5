//! Finds the processes of a cell: the descendants of its keeper, and the members of control groups with its name.
//! Pure.
//!
//! A process can't leave either set: an orphan in a PID namespace becomes a child of its PID 1, an orphan of a
//! subreaper a child of that, and only a process that could undo everything anyway can leave a control group.

use std::collections::{HashMap, HashSet};

use crate::process::Process;
use crate::procfs;
use crate::record::{CellRecord, Place, RunRecord};
use crate::snapshot::Seen;

/// Container ids have 64 digits; a much shorter name could be part of another path.
const SHORTEST_ID: usize = 32;

/// An index of the machine's processes.
#[derive(Debug)]
pub(crate) struct Census<'a> {
    all: &'a [Seen],
    children: HashMap<u32, Vec<usize>>,
}

impl<'a> Census<'a> {
    /// Indexes these processes.
    pub(crate) fn of(all: &'a [Seen]) -> Self {
        let mut children: HashMap<u32, Vec<usize>> = HashMap::new();
        for (index, seen) in all.iter().enumerate() {
            children.entry(seen.stat.parent).or_default().push(index);
        }
        Self { all, children }
    }

    /// The living processes of a cell, its keeper included.
    pub(crate) fn members(&self, cell: &CellRecord) -> Vec<&'a Seen> {
        let mut found: HashSet<usize> = match &cell.place {
            Some(Place::Keeper { keeper, .. }) => self.family(*keeper),
            Some(Place::Group { leader }) => self.process_group(*leader),
            Some(Place::Container { .. }) | None => HashSet::new(),
        };
        if let Some(name) = group_name(cell) {
            found.extend((0..self.all.len()).filter(|index| is_in(&self.all[*index].groups, name)));
        }
        let mut found: Vec<&Seen> = found.into_iter().map(|index| &self.all[index]).collect();
        found.retain(|seen| seen.stat.is_alive());
        found.sort_by_key(|seen| (seen.process.start, seen.process.pid));
        found
    }

    /// The living processes of a cell without its keeper, which cleans up after them.
    pub(crate) fn inside(&self, cell: &CellRecord) -> Vec<&'a Seen> {
        let keeper = match &cell.place {
            Some(Place::Keeper { keeper, .. }) => Some(keeper.pid),
            _ => None,
        };
        let mut members = self.members(cell);
        members.retain(|seen| Some(seen.process.pid) != keeper);
        members
    }

    /// The processes of a cell to kill first, because the others die with them or are easier to find then: the
    /// keeper's children; in a container, the process whose parent is outside.
    pub(crate) fn heads(&self, cell: &CellRecord) -> Vec<&'a Seen> {
        let inside = self.inside(cell);
        let numbers: HashSet<u32> = inside.iter().map(|seen| seen.process.pid).collect();
        inside.into_iter().filter(|seen| !numbers.contains(&seen.stat.parent)).collect()
    }

    /// The living processes of one run: its first process, that process's descendants and its session.
    pub(crate) fn of_run(&self, cell: &CellRecord, run: &RunRecord) -> Vec<&'a Seen> {
        let members = self.members(cell);
        let first = run.pid.and_then(|inside| {
            members
                .iter()
                .find(|seen| number_inside(seen.process.pid) == Some(inside))
                .map(|seen| seen.process)
        });
        let Some(first) = first else { return Vec::new() };
        let family = self.family(first);
        let is_of_it = |seen: &&Seen| {
            seen.stat.session == first.pid
                || family.iter().any(|index| self.all[*index].process == seen.process)
        };
        members.into_iter().filter(is_of_it).collect()
    }

    fn family(&self, root: Process) -> HashSet<usize> {
        let Some(at) = self.all.iter().position(|seen| seen.process == root) else { return HashSet::new() };
        let mut found = HashSet::from([at]);
        let mut left = vec![at];
        while let Some(index) = left.pop() {
            let children = self.children.get(&self.all[index].process.pid);
            left.extend(children.into_iter().flatten().copied().filter(|child| found.insert(*child)));
        }
        found
    }

    fn process_group(&self, leader: Process) -> HashSet<usize> {
        let mut found = self.family(leader);
        // After the leader's death its pid may be reused, but not while the group exists.
        if self.all.iter().all(|seen| seen.process.pid != leader.pid || seen.process == leader) {
            found.extend((0..self.all.len()).filter(|index| {
                let seen = &self.all[*index];
                seen.stat.group == leader.pid && seen.process.start >= leader.start
            }));
        }
        found
    }
}

/// The pid of a process in its innermost namespace.
fn number_inside(pid: u32) -> Option<u32> {
    let status = procfs::read(&format!("{pid}/status"))?;
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    numbers.split_whitespace().last()?.parse().ok()
}

/// The name of a cell's control groups.
pub(crate) fn group_name(cell: &CellRecord) -> Option<&str> {
    match &cell.place {
        // Any other name could be that of a group that is not a container's.
        Some(Place::Container { id, same_kernel: true, .. }) => {
            Some(id.as_str()).filter(|id| is_engine_id(id))
        }
        Some(Place::Container { .. }) => None,
        Some(Place::Keeper { .. } | Place::Group { .. }) | None => Some(&cell.name),
    }
}

/// Whether this could be a container id: many hexadecimal digits.
fn is_engine_id(id: &str) -> bool {
    id.len() >= SHORTEST_ID && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether one of these control groups is named after a cell: `/x/<name>`, `/docker/<id>`,
/// `/system.slice/docker-<id>.scope`.
pub(crate) fn is_in(groups: &str, name: &str) -> bool {
    let paths = groups.lines().filter_map(|line| line.splitn(3, ':').nth(2));
    paths.flat_map(|path| path.split('/')).any(|part| part == name || is_named_after(part, name))
}

/// Whether this is an engine's name for the control group of a container: `<id>`, `docker-<id>.scope`,
/// `libpod-<id>`.
pub fn is_named_after(group: &str, id: &str) -> bool {
    let name = group.strip_suffix(".scope").unwrap_or(group);
    id.len() >= SHORTEST_ID && name.rsplit('-').next() == Some(id)
}

#[cfg(test)]
mod tests {
    use exec_wire::procfs::Stat;

    use super::*;
    use crate::owner::Owner;
    use crate::record::Moment;

    const ID: &str = "2a86fc98406e6a8c1f66b6f2274b06345de3bbf966eba0e3a98785605345dd32";

    fn seen(pid: u32, parent: u32, groups: &str) -> Seen {
        Seen {
            process: Process { pid, start: u64::from(pid) },
            stat: Stat {
                name: "x".into(),
                state: 'S',
                parent,
                group: pid,
                session: pid,
                flags: 0,
                ticks: 0,
                threads: 1,
                start: u64::from(pid),
                pages: 0,
            },
            groups: groups.into(),
        }
    }

    fn cell(place: Option<Place>) -> CellRecord {
        CellRecord {
            name: "agentctl-1-0-abc".into(),
            backend: "local".into(),
            owner: Owner::this_process(),
            since: Moment(0),
            place,
            session: None,
        }
    }

    fn pids(found: &[&Seen]) -> Vec<u32> {
        found.iter().map(|seen| seen.process.pid).collect()
    }

    fn kept_by(pid: u32, start: u64) -> CellRecord {
        cell(Some(Place::Keeper { keeper: Process { pid, start }, scratch: None }))
    }

    #[test]
    fn a_family_is_found_with_orphans_of_its_groups() {
        let all = [
            seen(1, 0, ""),
            seen(10, 1, ""),
            seen(11, 10, ""),
            seen(12, 11, ""),
            seen(20, 1, "4:memory:/a/agentctl-1-0-abc\n"),
            seen(30, 1, "4:memory:/a/agentctl-1-0-abcd\n"),
        ];
        let census = Census::of(&all);
        assert_eq!(pids(&census.members(&kept_by(10, 10))), [10, 11, 12, 20]);
        assert_eq!(pids(&census.heads(&kept_by(10, 10))), [11, 20]);
    }

    /// F12
    #[test]
    fn a_number_that_is_anothers_by_now_is_nobody() {
        let all = [seen(1, 0, ""), seen(10, 1, ""), seen(11, 10, "")];
        assert!(Census::of(&all).members(&kept_by(10, 9)).is_empty());
    }

    #[test]
    fn the_dead_do_not_count() {
        let mut all = [seen(10, 1, ""), seen(11, 10, "")];
        all[1].stat.state = 'Z';
        assert_eq!(pids(&Census::of(&all).members(&kept_by(10, 10))), [10]);
    }

    #[test]
    fn a_container_is_known_by_its_whole_id() {
        let here = |same_kernel| {
            cell(Some(Place::Container { id: ID.into(), endpoint: String::new(), same_kernel }))
        };
        let paths =
            [format!("/docker/{ID}"), format!("/system.slice/docker-{ID}.scope"), format!("/a/{ID}/b")];
        for path in paths {
            let all = [seen(5, 1, &format!("12:pids:/\n0::{path}\n")), seen(6, 5, &format!("0::{path}\n"))];
            assert_eq!(pids(&Census::of(&all).members(&here(true))), [5, 6], "{path}");
            assert_eq!(pids(&Census::of(&all).heads(&here(true))), [5], "{path}");
            assert!(Census::of(&all).members(&here(false)).is_empty(), "another kernel's");
        }
        for path in ["/docker/".to_owned(), format!("/docker/x{ID}"), format!("/docker/{}", &ID[1..])] {
            let all = [seen(5, 1, &format!("0::{path}\n"))];
            assert!(Census::of(&all).members(&here(true)).is_empty(), "{path}");
        }
    }

    #[test]
    fn a_process_group_is_its_members_while_its_leader_is_not_another() {
        let mut left = seen(12, 1, "");
        left.stat.group = 10;
        let group = cell(Some(Place::Group { leader: Process { pid: 10, start: 10 } }));
        assert_eq!(pids(&Census::of(&[left.clone()]).members(&group)), [12]);
        let mut another = seen(10, 1, "");
        another.process.start = 99;
        assert!(Census::of(&[left, another]).members(&group).is_empty());
    }
}
