//! Whether stopping works: a command's background processes are dead when the run has ended.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use exec_core::{Cmd, Operation, Remedy};

use super::{Patient, not_run};
use crate::Verdict;

/// How long to look for the background process before it counts as invisible from here.
const APPEARS: Duration = Duration::from_secs(5);

fn fix() -> Remedy {
    Remedy::from(Operation::ReportBug).after("do not use this sandbox")
}

pub(super) async fn check(patient: &Patient<'_>) -> Result<Verdict, Verdict> {
    let marker = marker();
    let script = format!("(sleep {marker} &) ; exec sleep {marker}");
    let run = patient.executor.start(&Cmd::shell(script), &patient.opts).await;
    let run = run.map_err(|error| not_run(&error))?;
    let seen = appears(&marker).await;
    run.control().kill();
    let outcome = run.wait().await.map_err(|error| Verdict::of_error(&error))?;
    if !outcome.survivors.is_empty() {
        return Ok(Verdict::fails(format!("processes {:?} survived", outcome.survivors), fix()));
    }
    if !seen {
        return Ok(Verdict::not_tried(
            "its processes can't be seen from here, or the sandbox has no `sleep`",
        ));
    }
    match alive(&marker) {
        0 => Ok(Verdict::holds("a background process it had started was dead when the run had ended")),
        left => {
            Ok(Verdict::fails(format!("{left} of its processes were alive when the run had ended"), fix()))
        }
    }
}

/// A unique number of seconds to sleep: sandboxes are checked in parallel.
fn marker() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("86400.{}{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// The control: both exist during the run.
async fn appears(marker: &str) -> bool {
    let end = tokio::time::Instant::now() + APPEARS;
    while tokio::time::Instant::now() < end {
        if alive(marker) >= 2 {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    false
}

/// Counts the processes on this machine with the marker as an argument.
fn alive(marker: &str) -> usize {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let arguments = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    arguments.filter(|line| line.split(|byte| *byte == 0).any(|word| word == marker.as_bytes())).count()
}
