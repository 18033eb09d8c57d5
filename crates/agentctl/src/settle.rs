//! Waits for background work after the last answer.
//!
//! Sandboxes end in the background: their keepers, the helpers that remove containers and our own services
//! are child processes, and each ends when it has nothing left to clean up. A command that makes many
//! sandboxes waits for them, so that nothing is left when it exits.

use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{WaitId, WaitIdOptions, waitid};
use tokio::time::{sleep, timeout};

/// The polling interval.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Returns when no child process is left, or after `limit`: then the helpers continue alone.
pub(crate) async fn helpers_have_ended(limit: Duration) {
    let ended = async {
        while has_children() {
            sleep(LOOK_AGAIN).await;
        }
    };
    let _ = timeout(limit, ended).await;
}

/// Dead children count until the runtime has reaped them.
fn has_children() -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::All, look), Err(Errno::CHILD))
}
