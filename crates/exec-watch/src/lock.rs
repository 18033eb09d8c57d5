//! A file that one process at a time holds, or several that only read.

use std::fs::File;
use std::io;
use std::time::{Duration, Instant};

/// Between two attempts.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Who may hold it beside us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum With {
    /// Nobody.
    Nobody,
    /// Others that say so too.
    Readers,
}

/// What is held until it is dropped, or its process ends.
///
/// It is given back and not only closed: a child that another thread of this process is just starting has a copy of the
/// descriptor until it becomes its program, and would hold what nobody holds any more.
#[derive(Debug)]
pub(crate) struct Lock(File);

impl Lock {
    /// Takes it, if it can be had within this time.
    pub(crate) fn take(file: File, with: With, within: Duration) -> io::Result<Option<Self>> {
        let end = Instant::now() + within;
        loop {
            if try_lock(&file, with)? {
                return Ok(Some(Self(file)));
            }
            if Instant::now() >= end {
                return Ok(None);
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    }
}

#[cfg(unix)]
impl Drop for Lock {
    fn drop(&mut self) {
        // Closing it does the same, if later.
        let _ = rustix::fs::flock(&self.0, rustix::fs::FlockOperation::Unlock);
    }
}

#[cfg(unix)]
fn try_lock(file: &File, with: With) -> io::Result<bool> {
    use rustix::fs::{FlockOperation, flock};
    use rustix::io::Errno;
    let operation = match with {
        With::Nobody => FlockOperation::NonBlockingLockExclusive,
        With::Readers => FlockOperation::NonBlockingLockShared,
    };
    match flock(file, operation) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Where nothing can be locked, two may clean up at once, and a line may be counted twice.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "the same call as where files can be locked")]
fn try_lock(_: &File, _: With) -> io::Result<bool> {
    Ok(true)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_millis(50);

    #[test]
    fn a_copy_of_the_descriptor_holds_nothing_afterwards() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let open = || File::options().create(true).append(true).open(&path).unwrap();
        let file = open();
        let copy = file.try_clone().unwrap();
        let held = Lock::take(file, With::Nobody, SOON).unwrap().unwrap();
        assert!(Lock::take(open(), With::Nobody, SOON).unwrap().is_none(), "the control: it is held");
        assert!(Lock::take(open(), With::Readers, SOON).unwrap().is_none());
        drop(held);
        let reader = Lock::take(open(), With::Readers, SOON).unwrap().unwrap();
        assert!(Lock::take(open(), With::Readers, SOON).unwrap().is_some());
        assert!(Lock::take(open(), With::Nobody, SOON).unwrap().is_none());
        drop((copy, reader));
    }
}
