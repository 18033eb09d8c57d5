//! Files of other users.

use std::os::unix::fs::chown;
use std::path::Path;

use rustix::process::{getegid, geteuid};

use crate::Skip;

/// Makes this user and group the owner of a path.
///
/// # Errors
///
/// Skips the test unless run by root, because only root can give files away.
pub fn give_away(path: &Path, uid: u32, gid: u32) -> anyhow::Result<()> {
    if (uid, gid) == (geteuid().as_raw(), getegid().as_raw()) {
        return Ok(());
    }
    if !geteuid().is_root() {
        return Err(Skip("only root can give files away".to_owned()).into());
    }
    Ok(chown(path, Some(uid), Some(gid))?)
}
