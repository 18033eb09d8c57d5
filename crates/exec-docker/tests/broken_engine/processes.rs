//! Live processes on this machine, by their arguments and their ancestors.

use std::collections::HashMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use exec_wire::procfs::Stat;

const PATIENCE: Duration = Duration::from_secs(20);

const POLL: Duration = Duration::from_millis(10);

/// Processes with this word among their arguments.
pub(crate) fn with_argument(word: &str) -> Vec<u32> {
    all().filter(|id| arguments(*id).split(|byte| *byte == 0).any(|found| found == word.as_bytes())).collect()
}

/// Processes with a path below this one in their arguments, and all their descendants.
pub(crate) fn of(place: &Path) -> Vec<u32> {
    let place = place.as_os_str().as_bytes();
    let parents: HashMap<u32, u32> = all().filter_map(|id| Some((id, parent(id)?))).collect();
    let named = |id: u32| arguments(id).windows(place.len()).any(|found| found == place);
    let lineage =
        |id: u32| std::iter::successors(Some(id), |id| parents.get(id).copied().filter(|id| *id > 1));
    // This process may have been given the path as an argument.
    let own = std::process::id();
    parents.keys().copied().filter(|id| lineage(*id).take_while(|id| *id != own).any(named)).collect()
}

fn all() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// None for a zombie.
fn arguments(id: u32) -> Vec<u8> {
    fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default()
}

fn parent(id: u32) -> Option<u32> {
    Stat::parse(&fs::read(format!("/proc/{id}/stat")).ok()?).map(|stat| stat.parent)
}

pub(crate) async fn eventually_alive(word: &str) -> Result<()> {
    wait(|| !with_argument(word).is_empty()).await;
    ensure!(!with_argument(word).is_empty(), "nothing with the argument {word} is alive");
    Ok(())
}

pub(crate) async fn eventually_dead(word: &str) -> Result<()> {
    wait(|| with_argument(word).is_empty()).await;
    let alive = with_argument(word);
    ensure!(alive.is_empty(), "still alive: {alive:?}");
    Ok(())
}

async fn wait(is_true: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_true() && Instant::now() < end {
        tokio::time::sleep(POLL).await;
    }
}
