//! FIFO channels of executors that were killed together with the helper that cleans up after them.

use std::io;
use std::path::Path;

use exec_control::{ProcessState, SweepMode, namespaces, start_time};
use exec_files::{Dir, Sharing};
use exec_wire::{FIFO_IN, FIFO_OUT};

/// The most entries read from one directory.
const MOST: usize = 1 << 16;

const KIND: &str = "lanes";

/// The prefix of this process's directories. It distinguishes the process from all others on this machine.
pub(super) fn prefix() -> Option<String> {
    Some(format!("{KIND}-{}-{}-{}", namespaces()?, std::process::id(), start_time("self")?))
}

/// Removes the directories of dead processes, or only lists them. Those of other namespaces stay: a PID means another
/// process there.
pub(super) fn clear(directory: &Path, mode: SweepMode) -> Vec<String> {
    let Some(here) = namespaces() else { return Vec::new() };
    let Ok(directory) = Dir::open_own(directory, Sharing::Readable) else { return Vec::new() };
    let entries = directory.entries(MOST).unwrap_or_default();
    let names = entries.iter().filter_map(|entry| entry.name.to_str());
    let is_dead = |(pid, start)| ProcessState::of(pid).is_dead(start);
    let dead: Vec<&str> = names.filter(|name| owner(name, &here).is_some_and(is_dead)).collect();
    if mode == SweepMode::Remove {
        for name in &dead {
            if let Err(error) = remove(&directory, name) {
                tracing::debug!(%error, name, "FIFO channels of a dead process are left");
            }
        }
    }
    dead.into_iter().map(str::to_owned).collect()
}

/// Removes a directory of FIFO channels, but nothing in it that does not look like a channel.
fn remove(directory: &Dir, name: &str) -> io::Result<()> {
    let place = directory.own_dir(name, Sharing::Closed)?;
    for fifo_channel in place.entries(MOST)? {
        let pipes = place.dir(&fifo_channel.name)?;
        for pipe in [FIFO_IN, FIFO_OUT] {
            // A FIFO channel may be half removed.
            pipes.remove_file(pipe).ok();
        }
        place.remove_dir(&fifo_channel.name)?;
    }
    directory.remove_dir(name)
}

/// PID and start time of the directory's process, if it ran in these namespaces.
fn owner(name: &str, here: &str) -> Option<(u32, u64)> {
    let mut words =
        name.strip_prefix(KIND)?.strip_prefix('-')?.strip_prefix(here)?.strip_prefix('-')?.split('-');
    Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

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
            fs::write(dir.path().join(name).join("lane").join(exec_wire::FIFO_IN), "").unwrap();
            fs::set_permissions(dir.path().join(name), fs::Permissions::from_mode(0o700)).unwrap();
        }
        assert_eq!(clear(dir.path(), SweepMode::Look), [dead.as_str()]);
        assert!(dir.path().join(&dead).exists());
        assert_eq!(clear(dir.path(), SweepMode::Remove), [dead.as_str()]);
        assert!(!dir.path().join(dead).exists());
        assert!(
            others.iter().all(|name| dir.path().join(name).join("lane").join(exec_wire::FIFO_IN).exists())
        );
    }
}
