//! Living processes on the host, found by an argument that only a case's own processes have.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};

/// How long an asynchronous end may take.
const PATIENCE: Duration = Duration::from_secs(20);

const POLL: Duration = Duration::from_millis(5);

/// The processes that have `marker` in their arguments. A zombie has no arguments.
pub(crate) fn with_marker(marker: &str) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let ids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    ids.filter(|id| has_marker(*id, marker)).collect()
}

fn has_marker(id: u32, marker: &str) -> bool {
    let arguments = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
    arguments.split(|byte| *byte == 0).any(|word| word == marker.as_bytes())
}

/// No process with this marker is alive now.
pub(crate) fn ensure_none(marker: &str) -> Result<()> {
    let alive = with_marker(marker);
    ensure!(alive.is_empty(), "still alive: {alive:?}");
    Ok(())
}

/// A process with this marker is alive soon. The control without which a case proves nothing.
pub(crate) async fn eventually_alive(marker: &str) -> Result<()> {
    eventually_count(marker, 1).await
}

/// At least this many processes with this marker are alive soon.
pub(crate) async fn eventually_count(marker: &str, count: usize) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    while with_marker(marker).len() < count {
        if Instant::now() > deadline {
            bail!("{count} processes with the argument {marker} were expected: {:?}", with_marker(marker));
        }
        tokio::time::sleep(POLL).await;
    }
    Ok(())
}

/// No process with this marker is alive soon, for ends that can't be waited for.
pub(crate) async fn eventually_dead(marker: &str) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    while !with_marker(marker).is_empty() {
        if Instant::now() > deadline {
            return ensure_none(marker);
        }
        tokio::time::sleep(POLL).await;
    }
    Ok(())
}
