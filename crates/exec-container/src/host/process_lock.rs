//! Locks that work across all processes of this user.

use std::fs::File;
use std::io;
use std::time::Duration;

use exec_core::{Error, ErrorKind, Remedy, Result};
use exec_files::Sharing;

use crate::host::cache;

/// The directory of the locks, in the cache.
const DIRECTORY: &str = "turns";

/// The delay between two attempts.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// A lock, held until it is dropped or its process ends.
#[derive(Debug)]
pub(crate) struct ProcessLock(#[expect(dead_code, reason = "what it holds is a lock")] File);

/// Waits for the lock of this name.
pub(crate) async fn take(name: &str) -> Result<ProcessLock> {
    let failed = |error: io::Error| {
        let path = cache::directory().join(DIRECTORY).join(name);
        Error::new(ErrorKind::Io, "take lock", format!("can't use {}", path.display()))
            .with_source(error)
            .with_remedy(Remedy::host(cache::REMEDY))
    };
    let file = lock_file(name).map_err(failed)?;
    let mut reported = false;
    while !is_ours(&file).map_err(failed)? {
        if !reported {
            tracing::info!(name, "waiting for another process that does the same");
            reported = true;
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    Ok(ProcessLock(file))
}

fn lock_file(name: &str) -> io::Result<File> {
    let cache = cache::open()?;
    match cache.make_dir(DIRECTORY, 0o700) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    cache.own_dir(DIRECTORY, Sharing::Readable)?.append(name, 0o600)
}

#[cfg(unix)]
fn is_ours(file: &File) -> io::Result<bool> {
    use rustix::fs::{FlockOperation, flock};
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Without file locks, work may be done twice, which only costs time.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "the same call as where files can be locked")]
fn is_ours(_: &File) -> io::Result<bool> {
    Ok(true)
}
