//! Control groups of a cell, found through its processes: to kill them as a whole, to measure them, and to remove
//! empty ones.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use exec_wire::procfs::mounts;

use crate::cgroup_kill::find;
use crate::members::is_named_after;
use crate::procfs;
use crate::snapshot::Seen;

/// Directories of groups.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    unified: BTreeSet<PathBuf>,
    freezers: BTreeSet<PathBuf>,
}

impl Groups {
    /// Adds a group found below one of the mounted hierarchies.
    pub(crate) fn add(&mut self, mounts: &Mounts, mount: &Path, group: &Path) {
        if mounts.unified.as_deref() == Some(mount) {
            self.unified.insert(group.to_owned());
        } else if mounts.freezer.as_deref() == Some(mount) {
            self.freezers.insert(group.to_owned());
        }
    }

    /// Freezes groups of the v1 freezer. Groups that are killed as a whole need not be frozen.
    pub(crate) fn freeze(&self) {
        for group in &self.freezers {
            put(&group.join("freezer.state"), "FROZEN");
        }
    }

    /// Waits until all processes in the frozen groups have stopped.
    pub(crate) fn await_standstill(&self, until: Instant, look_again: Duration) {
        while self.freezers.iter().any(|group| is_moving(group)) && Instant::now() < until {
            std::thread::sleep(look_again);
        }
    }

    pub(crate) fn kill(&self) {
        for group in &self.unified {
            put(&group.join("cgroup.kill"), "1");
        }
    }

    /// Thaws all groups, including ones frozen by others: a frozen process can't die.
    pub(crate) fn thaw(&self) {
        for group in &self.freezers {
            put(&group.join("freezer.state"), "THAWED");
        }
        for group in &self.unified {
            put(&group.join("cgroup.freeze"), "0");
        }
    }
}

fn is_moving(group: &Path) -> bool {
    fs::read_to_string(group.join("freezer.state")).is_ok_and(|state| state.trim() == "FREEZING")
}

fn put(file: &Path, value: &str) {
    if let Err(error) = fs::write(file, value) {
        tracing::trace!(%error, file = %file.display(), "a control group does not do it");
    }
}

/// The groups of this name that these processes are in.
pub(crate) fn of(name: &str, members: &[&Seen]) -> Groups {
    let mounts = Mounts::read();
    let mut groups = Groups::default();
    for (controllers, path) in members.iter().flat_map(|seen| named(&seen.groups, name)) {
        if controllers.is_empty() {
            groups.unified.extend(mounts.unified.iter().map(|mount| mount.join(&path)));
        } else if controllers == "freezer" {
            groups.freezers.extend(mounts.freezer.iter().map(|mount| mount.join(&path)));
        }
    }
    groups
}

/// The groups of this name among those of a process, each with the controllers of its hierarchy.
fn named<'a>(groups: &'a str, name: &'a str) -> impl Iterator<Item = (&'a str, PathBuf)> {
    groups.lines().filter_map(move |line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        Some((controllers, up_to(path, name)?))
    })
}

/// The part of a path that ends with the group of this name, without the slash at its beginning.
fn up_to(path: &str, name: &str) -> Option<PathBuf> {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let at = parts.iter().position(|part| *part == name || is_named_after(part, name))?;
    Some(parts.get(..=at)?.iter().collect())
}

/// The mount points of the hierarchies.
#[derive(Debug, Default)]
pub(crate) struct Mounts {
    unified: Option<PathBuf>,
    freezer: Option<PathBuf>,
    memory: Option<PathBuf>,
    pids: Option<PathBuf>,
    all: Vec<PathBuf>,
}

impl Mounts {
    pub(crate) fn read() -> Self {
        Self::parse(&procfs::read_bytes("self/mountinfo").unwrap_or_default())
    }

    /// The hierarchies in which every cell with a group has one: engines put a container into all hierarchies; our
    /// own cells are in the unified one, or else in that of the pids controller.
    pub(crate) fn with_all_members(&self) -> impl Iterator<Item = &Path> {
        [&self.unified, &self.freezer, &self.pids].into_iter().flatten().map(PathBuf::as_path)
    }

    pub(crate) fn parse(mountinfo: &[u8]) -> Self {
        let mut found = Self::default();
        for mount in mounts(mountinfo) {
            let Ok(point) = str::from_utf8(&mount.point).map(PathBuf::from) else { continue };
            match mount.file_system {
                b"cgroup2" => found.unified = Some(point.clone()),
                b"cgroup" => {
                    let controllers = [
                        ("freezer", &mut found.freezer),
                        ("memory", &mut found.memory),
                        ("pids", &mut found.pids),
                    ];
                    for (_, place) in controllers.into_iter().filter(|(name, _)| mount.has_option(name)) {
                        *place = Some(point.clone());
                    }
                }
                _ => continue,
            }
            found.all.push(point);
        }
        found
    }

    /// Memory charged to the group of this name that these processes are in, if it is accounted and readable.
    pub(crate) fn memory_of(&self, name: &str, members: &[&Seen]) -> Option<u64> {
        let mut groups = members.iter().flat_map(|seen| named(&seen.groups, name));
        groups.find_map(|(controllers, path)| {
            let (mount, used, droppable) = if controllers.is_empty() {
                (&self.unified, "memory.current", "inactive_file")
            } else if controllers.split(',').any(|controller| controller == "memory") {
                (&self.memory, "memory.usage_in_bytes", "total_inactive_file")
            } else {
                return None;
            };
            let group = mount.as_ref()?.join(path);
            let used: u64 = fs::read_to_string(group.join(used)).ok()?.trim().parse().ok()?;
            let details = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
            Some(used.saturating_sub(entry(&details, droppable).unwrap_or(0)))
        })
    }
}

/// The number of this name in a list of `name number`, a line each.
fn entry(list: &str, name: &str) -> Option<u64> {
    let mut entries = list.lines().filter_map(|line| line.split_once(' '));
    entries.find(|(key, _)| *key == name)?.1.trim().parse().ok()
}

/// Removes the empty groups of this name, wherever they are, and returns how many. A group with processes can't be
/// removed. A cell's group is not always near ours: the scope of a user's cell is outside of the session's groups.
pub(crate) fn remove_empty(name: &str) -> usize {
    remove_empty_in(&Mounts::read(), name)
}

fn remove_empty_in(mounts: &Mounts, name: &str) -> usize {
    let mut found = Vec::new();
    mounts.all.iter().for_each(|mount| find(mount, &[name], &mut found));
    found.iter().filter(|(group, _)| group.ends_with(name) && fs::remove_dir(group).is_ok()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[u8] = b"31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
        32 31 0:29 / /sys/fs/cgroup/freezer rw,relatime shared:9 - cgroup cgroup rw,freezer\n\
        33 31 0:30 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
        41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";

    #[test]
    fn hierarchies_are_found() {
        let mounts = Mounts::parse(TABLE);
        assert_eq!(mounts.unified.as_deref(), Some(Path::new("/sys/fs/cgroup/unified")));
        assert_eq!(mounts.freezer.as_deref(), Some(Path::new("/sys/fs/cgroup/freezer")));
        assert_eq!(mounts.memory.as_deref(), Some(Path::new("/sys/fs/cgroup/memory")));
        assert_eq!(mounts.all.len(), 3);
    }

    #[test]
    fn a_group_is_named_after_the_cell() {
        assert_eq!(up_to("/a/cell/b/c", "cell"), Some("a/cell".into()));
        assert_eq!(up_to("/a/cells", "cell"), None);
        assert_eq!(up_to("/", "cell"), None);
    }

    /// R91: also far from our own groups; never a container's group or one with a similar name.
    #[test]
    fn empty_groups_are_removed_wherever_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let cell = "agentctl-7-0-0123456789ab";
        let unified = dir.path().join("unified");
        let far = unified.join(format!("user.slice/app.slice/{cell}.scope/{cell}"));
        let (full, alike) = (unified.join(format!("a/{cell}")), unified.join(format!("b/{cell}0")));
        for group in [&far, &full.join("inner"), &alike] {
            fs::create_dir_all(group).unwrap();
        }
        let mounts = Mounts { all: vec![unified, dir.path().join("gone")], ..Mounts::default() };
        assert_eq!(remove_empty_in(&mounts, cell), 1);
        assert!(!far.exists() && far.parent().unwrap().exists() && full.exists() && alike.exists());
    }

    /// A process in these groups.
    fn member(groups: &str) -> Seen {
        let all = crate::snapshot::take();
        let own = all.into_iter().find(|seen| seen.process.pid == std::process::id()).unwrap();
        Seen { groups: groups.into(), ..own }
    }

    /// R90: both kernel interfaces, each imitated by a directory.
    #[cfg(target_os = "linux")]
    #[test]
    fn memory_is_what_a_group_is_charged_with_but_for_pages_that_can_be_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let mounts = Mounts {
            unified: Some(dir.path().join("unified")),
            memory: Some(dir.path().join("memory")),
            ..Mounts::default()
        };
        let put = |file: &str, text: &str| {
            let file = dir.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        let of = |groups: &str| mounts.memory_of("cell", &[&member("0::/\n"), &member(groups)]);

        put("unified/a/cell/memory.current", "5000\n");
        put("unified/a/cell/memory.stat", "anon 3000\ninactive_file 1500\nactive_file 500\n");
        assert_eq!(of("0::/a/cell/inner\n"), Some(3500));
        assert_eq!(of("0::/a/other\n"), None);

        put("memory/b/cell/memory.usage_in_bytes", "7000\n");
        put("memory/b/cell/memory.stat", "inactive_file 1\ntotal_inactive_file 3000\n");
        assert_eq!(of("4:memory:/b/cell\n3:pids:/b/cell\n0::/\n"), Some(4000));
        assert_eq!(of("3:pids:/b/cell\n"), None, "a hierarchy that does not count memory");

        put("unified/c/cell/memory.stat", "inactive_file 1500\n");
        assert_eq!(of("0::/c/cell\n"), None, "a group without the controller");
    }
}
