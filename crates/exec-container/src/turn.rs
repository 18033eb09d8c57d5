//! One at a time, over all processes of this user.

use std::fs::File;
use std::time::Duration;

use exec_core::{Error, ErrorKind, Result};

use crate::cache;

/// Between two looks whether it is our turn.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// The turn, until it is dropped, or its process ends.
#[derive(Debug)]
pub(crate) struct Turn(#[expect(dead_code, reason = "what it holds is a lock")] File);

/// Waits for the turn to do what has this name.
pub(crate) async fn take(name: &str) -> Result<Turn> {
    let directory = cache::directory().join("turns");
    let path = directory.join(name);
    let failed = |error: std::io::Error| {
        Error::new(ErrorKind::Io, "take turn", format!("can't use {}", path.display()))
            .with_source(error)
            .with_remedy("make the directory yours and writable, or set XDG_CACHE_HOME to one that is")
    };
    std::fs::create_dir_all(&directory).map_err(failed)?;
    let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
    let mut told = false;
    while !is_ours(&file).map_err(failed)? {
        if !told {
            tracing::info!(name, "waiting for another process that does the same");
            told = true;
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    Ok(Turn(file))
}

#[cfg(unix)]
fn is_ours(file: &File) -> std::io::Result<bool> {
    use rustix::fs::{FlockOperation, flock};
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Where nothing can be locked, doing it twice costs time and nothing else.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "the same call as where files can be locked")]
fn is_ours(_: &File) -> std::io::Result<bool> {
    Ok(true)
}
