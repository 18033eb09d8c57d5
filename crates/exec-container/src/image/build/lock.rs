//! One build at a time for a project, over all processes of this user.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use exec_core::{Error, ErrorKind, Result};
use sha2::{Digest, Sha256};

use super::inputs::hex;
use crate::cache;

/// Between two looks whether it is our turn; a build takes seconds or minutes.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// The turn, until it is dropped, or its process ends.
#[derive(Debug)]
pub(super) struct Turn(#[expect(dead_code, reason = "what it holds is a lock")] File);

/// Waits for it.
pub(super) async fn take(workspace: &Path) -> Result<Turn> {
    let name = hex(&Sha256::digest(workspace.as_os_str().as_encoded_bytes()));
    let directory = cache::directory().join("builds");
    let path = directory.join(format!("{name}.lock"));
    let failed = |error: std::io::Error| {
        Error::new(ErrorKind::Io, "build", format!("can't use {}", path.display()))
            .with_source(error)
            .with_remedy("make the directory yours and writable, or set XDG_CACHE_HOME to one that is")
    };
    std::fs::create_dir_all(&directory).map_err(failed)?;
    let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
    let mut told = false;
    while !is_ours(&file).map_err(failed)? {
        if !told {
            tracing::info!("waiting for another build of this project");
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

/// Where nothing can be locked, two builds cost time and nothing else.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "the same call as where files can be locked")]
fn is_ours(_: &File) -> std::io::Result<bool> {
    Ok(true)
}
