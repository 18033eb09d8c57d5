//! Waits for what goes on after the last answer.
//!
//! Sandboxes end beside whatever else happens: their keepers, the helpers that remove containers and the services of our own are
//! child processes, and each ends when it has nothing left to clean up. A command that makes many sandboxes waits for them, so
//! that nothing of it is left when it has ended.

use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{WaitId, WaitIdOptions, waitid};
use tokio::time::{sleep, timeout};

/// Between two looks.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Returns when no child process is left, or after `limit`: then the helpers go on without us.
pub(crate) async fn helpers_have_ended(limit: Duration) {
    let ended = async {
        while has_children() {
            sleep(LOOK_AGAIN).await;
        }
    };
    let _ = timeout(limit, ended).await;
}

/// Children that have ended count until the runtime has waited for them.
fn has_children() -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::All, look), Err(Errno::CHILD))
}
