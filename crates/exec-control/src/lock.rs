//! A file lock, exclusive or shared between readers.

use std::fs::File;
use std::io;
use std::time::{Duration, Instant};

/// The pause between two attempts.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Which other processes may hold the lock at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum With {
    /// None.
    NoOther,
    /// Other readers.
    Readers,
}

/// A lock that is held until it is dropped or its process ends.
///
/// Dropping it unlocks the file explicitly: a child that another thread is just starting has a copy of the
/// descriptor until it executes its program, and would keep the lock held.
#[derive(Debug)]
pub(crate) struct Lock(File);

impl Lock {
    /// Takes the lock, or returns `None` if it stays taken for this long.
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
        // Closing the file unlocks it too, if later.
        let _ = rustix::fs::flock(&self.0, rustix::fs::FlockOperation::Unlock);
    }
}

#[cfg(unix)]
fn try_lock(file: &File, with: With) -> io::Result<bool> {
    use rustix::fs::{FlockOperation, flock};
    use rustix::io::Errno;
    let operation = match with {
        With::NoOther => FlockOperation::NonBlockingLockExclusive,
        With::Readers => FlockOperation::NonBlockingLockShared,
    };
    match flock(file, operation) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Without file locks two processes may clean up at once, and a line may be counted twice.
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
        let held = Lock::take(file, With::NoOther, SOON).unwrap().unwrap();
        assert!(Lock::take(open(), With::NoOther, SOON).unwrap().is_none(), "the control: it is held");
        assert!(Lock::take(open(), With::Readers, SOON).unwrap().is_none());
        drop(held);
        let reader = Lock::take(open(), With::Readers, SOON).unwrap().unwrap();
        assert!(Lock::take(open(), With::Readers, SOON).unwrap().is_some());
        assert!(Lock::take(open(), With::NoOther, SOON).unwrap().is_none());
        drop((copy, reader));
    }
}
