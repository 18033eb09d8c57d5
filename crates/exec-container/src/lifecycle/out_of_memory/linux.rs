//! Reads the kernel's count from the control group that is named after the container.

use std::fs;
use std::path::{Path, PathBuf};

use exec_control::is_named_after;

/// The files with the count, on v1 and v2.
const PLACES: [(&str, &str); 2] =
    [("/sys/fs/cgroup/memory", "memory.oom_control"), ("/sys/fs/cgroup", "memory.events")];

/// Container groups are not nested deeper, not even those of rootless engines.
const DEPTH: usize = 7;

/// Whether the kernel killed a process of the container for lack of memory. False if the group is already gone.
pub(crate) fn killed_for_memory(id: &str) -> bool {
    PLACES.iter().any(|(root, file)| {
        let group = find(Path::new(root), id, DEPTH);
        group.and_then(|group| fs::read_to_string(group.join(file)).ok()).is_some_and(|text| kills(&text) > 0)
    })
}

/// The file that reports the container's kills, on control groups v2.
pub(super) fn open_events(id: &str) -> Option<fs::File> {
    let [_, (root, file)] = PLACES;
    Path::new(root).join("cgroup.controllers").exists().then_some(())?;
    fs::File::open(find(Path::new(root), id, DEPTH)?.join(file)).ok()
}

fn find(directory: &Path, id: &str, depth: usize) -> Option<PathBuf> {
    let entries = fs::read_dir(directory).ok()?.flatten();
    let mut below = Vec::new();
    for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        if entry.file_name().to_str().is_some_and(|name| is_containers(name, id)) {
            return Some(entry.path());
        }
        below.push(entry.path());
    }
    let depth = depth.checked_sub(1)?;
    below.iter().find_map(|directory| find(directory, id, depth))
}

/// Whether the group is the container's own. The group of Podman's monitor is named after the container too, but does
/// not count its kills.
fn is_containers(group: &str, id: &str) -> bool {
    is_named_after(group, id) && !group.contains("conmon")
}

/// `oom_kill 2` among other lines.
pub(super) fn kills(text: &str) -> u64 {
    let counts = text.lines().filter_map(|line| line.split_once(' '));
    let mut kills = counts.filter(|(name, _)| *name == "oom_kill");
    kills.next().and_then(|(_, count)| count.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "2a86fc98406e6a8c1f66b6f2274b06345de3bbf966eba0e3a98785605345dd32";

    #[test]
    fn both_ways_to_count_are_read() {
        assert_eq!(kills("oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"), 2);
        assert_eq!(kills("low 0\nhigh 0\nmax 7\noom 1\noom_kill 1\n"), 1);
        assert_eq!(kills("oom_kill\nnonsense"), 0);
    }

    /// R40: whichever of the two is found first.
    #[test]
    fn the_monitors_group_is_not_the_containers() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join(format!("machine.slice/libpod-conmon-{ID}.scope"))).unwrap();
        assert_eq!(find(dir.path(), ID, DEPTH), None);
        let group = dir.path().join(format!("machine.slice/libpod-{ID}.scope"));
        fs::create_dir_all(&group).unwrap();
        assert_eq!(find(dir.path(), ID, DEPTH), Some(group));
    }

    #[test]
    fn a_group_is_found_by_the_whole_id() {
        let dir = tempfile::tempdir().unwrap();
        let group = dir.path().join(format!("machine.slice/libpod-{ID}.scope/container"));
        fs::create_dir_all(&group).unwrap();
        assert_eq!(find(dir.path(), ID, DEPTH).as_deref(), group.parent());
        assert_eq!(find(dir.path(), &ID[1..], DEPTH), None);
        assert_eq!(find(dir.path(), ID, 0), None);
        assert!(!killed_for_memory(ID));
    }
}
