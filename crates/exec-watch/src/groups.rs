//! Control groups of a cell, found through its processes: to kill them as a whole, and to take them away when they are
//! empty.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::members::is_named_after;
use crate::snapshot::Seen;

/// Directories of groups.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    unified: BTreeSet<PathBuf>,
    freezers: BTreeSet<PathBuf>,
}

impl Groups {
    /// Where groups are frozen by a controller of its own. What is killed with a whole group need not be frozen.
    pub(crate) fn freeze(&self) {
        for group in &self.freezers {
            put(&group.join("freezer.state"), "FROZEN");
        }
    }

    pub(crate) fn kill(&self) {
        for group in &self.unified {
            put(&group.join("cgroup.kill"), "1");
        }
    }

    /// A frozen process can't die, whoever froze it.
    pub(crate) fn thaw(&self) {
        for group in &self.freezers {
            put(&group.join("freezer.state"), "THAWED");
        }
        for group in &self.unified {
            put(&group.join("cgroup.freeze"), "0");
        }
    }
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
    for seen in members {
        for line in seen.groups.lines() {
            let mut fields = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
            let Some(path) = up_to(path, name) else { continue };
            if controllers.is_empty() {
                groups.unified.extend(mounts.unified.iter().map(|mount| mount.join(&path)));
            } else if controllers == "freezer" {
                groups.freezers.extend(mounts.freezer.iter().map(|mount| mount.join(&path)));
            }
        }
    }
    groups
}

/// The part of a path that ends with the group of this name, without the slash at its beginning.
fn up_to(path: &str, name: &str) -> Option<PathBuf> {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let at = parts.iter().position(|part| *part == name || is_named_after(part, name))?;
    Some(parts.get(..=at)?.iter().collect())
}

/// Where the hierarchies are mounted.
#[derive(Debug, Default)]
struct Mounts {
    unified: Option<PathBuf>,
    freezer: Option<PathBuf>,
    all: Vec<PathBuf>,
}

impl Mounts {
    fn read() -> Self {
        Self::parse(&fs::read_to_string("/proc/self/mountinfo").unwrap_or_default())
    }

    /// `id parent major:minor ROOT PLACE options [tags…] - TYPE source SUPER-OPTIONS`
    fn parse(table: &str) -> Self {
        let mut mounts = Self::default();
        for line in table.lines() {
            let Some((left, right)) = line.split_once(" - ") else { continue };
            let Some(place) = left.split(' ').nth(4).map(PathBuf::from) else { continue };
            match right.split(' ').collect::<Vec<_>>()[..] {
                ["cgroup2", ..] => mounts.unified = Some(place.clone()),
                ["cgroup", _, options, ..] => {
                    if options.split(',').any(|option| option == "freezer") {
                        mounts.freezer = Some(place.clone());
                    }
                }
                _ => continue,
            }
            mounts.all.push(place);
        }
        mounts
    }
}

/// Removes the empty groups of this name wherever our own kind makes them; says how many there were. A group with
/// anybody in it can't be removed.
pub(crate) fn remove_empty(name: &str) -> usize {
    let mounts = Mounts::read();
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mut parents: BTreeSet<PathBuf> = mounts.all.iter().cloned().collect();
    for path in own.lines().filter_map(|line| line.splitn(3, ':').nth(2)) {
        let path = Path::new(path.trim_start_matches('/'));
        for mount in &mounts.all {
            parents.insert(mount.join(path));
            parents.extend(path.parent().map(|parent| mount.join(parent)));
        }
    }
    parents.iter().filter(|parent| fs::remove_dir(parent.join(name)).is_ok()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
        32 31 0:29 / /sys/fs/cgroup/freezer rw,relatime shared:9 - cgroup cgroup rw,freezer\n\
        41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";

    #[test]
    fn hierarchies_are_found() {
        let mounts = Mounts::parse(TABLE);
        assert_eq!(mounts.unified.as_deref(), Some(Path::new("/sys/fs/cgroup/unified")));
        assert_eq!(mounts.freezer.as_deref(), Some(Path::new("/sys/fs/cgroup/freezer")));
        assert_eq!(mounts.all.len(), 2);
    }

    #[test]
    fn a_group_is_named_after_the_cell() {
        assert_eq!(up_to("/a/cell/b/c", "cell"), Some("a/cell".into()));
        assert_eq!(up_to("/a/cells", "cell"), None);
        assert_eq!(up_to("/", "cell"), None);
    }
}
