//! Whether a file is the one that the host checked.

use std::os::fd::OwnedFd;

use exec_wire::FileId;
use rustix::fs::{AtFlags, Stat, StatxFlags, statx};

/// Compares the number, and the birth time where both sides know it, because numbers are reused.
pub(crate) fn is(file: &OwnedFd, stat: &Stat, expected: FileId) -> bool {
    let same_number = (stat.st_dev, stat.st_ino) == (expected.dev, expected.ino);
    same_number && (expected.born == 0 || birth(file).is_none_or(|born| born == expected.born))
}

/// In nanoseconds.
fn birth(file: &OwnedFd) -> Option<u64> {
    let found = statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::BTIME).ok()?;
    if found.stx_mask & StatxFlags::BTIME.bits() == 0 {
        return None;
    }
    let seconds = u64::try_from(found.stx_btime.tv_sec).ok()?;
    seconds.checked_mul(1_000_000_000)?.checked_add(found.stx_btime.tv_nsec.into())
}
