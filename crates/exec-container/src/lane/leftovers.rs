//! Lanes of executors that were killed together with the helper that cleans up after them.

use std::fs;
use std::path::Path;

use exec_watch::{ProcessState, SweepMode, namespaces, start_time};

use super::linux::remove;

const KIND: &str = "lanes";

/// How the name of this process's places begins: it tells the process from any other of this machine.
pub(super) fn prefix() -> Option<String> {
    Some(format!("{KIND}-{}-{}-{}", namespaces()?, std::process::id(), start_time("self")?))
}

/// Removes what dead processes left below a directory. Of those elsewhere, where the same number is another process, nothing
/// is known, and theirs stays.
pub(super) fn clear(directory: &Path, mode: SweepMode) -> usize {
    let Some(here) = namespaces() else { return 0 };
    let mut found = 0;
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name
            .to_str()
            .and_then(|name| owner(name, &here))
            .is_some_and(|(pid, start)| ProcessState::of(pid).is_dead(start))
        {
            found += 1;
            if mode == SweepMode::Look {
                continue;
            }
            for lane in fs::read_dir(entry.path()).into_iter().flatten().flatten() {
                remove(&lane.path());
            }
            fs::remove_dir(entry.path()).ok();
        }
    }
    found
}

/// Number and start of the process whose place this is, if it is one of here.
fn owner(name: &str, here: &str) -> Option<(u32, u64)> {
    let mut words =
        name.strip_prefix(KIND)?.strip_prefix('-')?.strip_prefix(here)?.strip_prefix('-')?.split('-');
    Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R15, F12
    #[test]
    fn only_what_the_dead_left_goes() {
        let dir = tempfile::tempdir().unwrap();
        let here = namespaces().unwrap();
        let (own, start) = (std::process::id(), start_time("self").unwrap());
        let dead = format!("{KIND}-{here}-{own}-{}-0-aa", start + 1);
        let others = [
            format!("{KIND}-{here}-{own}-{start}-0-aa"),
            format!("{KIND}-1.2-{own}-{}-0-aa", start + 1),
            "lanes-of-somebody".to_owned(),
            "exec-init-0.1.0".to_owned(),
        ];
        for name in others.iter().chain([&dead]) {
            fs::create_dir_all(dir.path().join(name).join("lane")).unwrap();
            fs::write(dir.path().join(name).join("lane").join(exec_wire::LANE_IN), "").unwrap();
        }
        assert_eq!(clear(dir.path(), SweepMode::Look), 1);
        assert!(dir.path().join(&dead).exists());
        assert_eq!(clear(dir.path(), SweepMode::Remove), 1);
        assert!(!dir.path().join(dead).exists());
        assert!(
            others.iter().all(|name| dir.path().join(name).join("lane").join(exec_wire::LANE_IN).exists())
        );
    }
}
