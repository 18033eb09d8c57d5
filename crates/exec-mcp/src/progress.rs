//! A command's output while it runs, as progress notifications.
//!
//! Notifications are for people who watch: several a second at most, each with the end of the output since the last
//! one. The authoritative output is in the answer. Without output a notification is still sent now and then, so that
//! clients that give up on silent calls keep waiting.

use std::convert::Infallible;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use exec_core::Stream;
use exec_core::printable::{Colours, Sanitizer};
use exec_tools::Watch;
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::time::{Instant, MissedTickBehavior};

/// Between two notifications.
const PACE: Duration = Duration::from_millis(100);

/// Between two notifications without output.
const SIGN_OF_LIFE: Duration = Duration::from_secs(10);

/// The most bytes of output in one notification.
const MOST: usize = 4 * 1024;

/// Reports the output of one call's command to the client, if requested.
#[derive(Debug)]
pub(crate) struct Progress {
    client: Option<(Peer<RoleServer>, ProgressToken)>,
    pending: Mutex<Vec<u8>>,
}

impl Progress {
    pub(crate) fn new(context: &RequestContext<RoleServer>) -> Self {
        let token = context.meta.get_progress_token();
        Self { client: token.map(|token| (context.peer.clone(), token)), pending: Mutex::default() }
    }

    /// Reports until it is dropped.
    pub(crate) async fn tell(&self) -> Infallible {
        let Some((peer, token)) = &self.client else { return std::future::pending().await };
        let begun = Instant::now();
        let mut last = begun;
        let mut pace = tokio::time::interval(PACE);
        pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let now = pace.tick().await;
            let printed = std::mem::take(&mut *self.pending());
            if printed.is_empty() && now - last < SIGN_OF_LIFE {
                continue;
            }
            last = now;
            let elapsed = (now - begun).as_secs_f64();
            let message =
                if printed.is_empty() { format!("running for {elapsed:.0} s") } else { text(&printed) };
            let progress = ProgressNotificationParam::new(token.clone(), elapsed).with_message(message);
            if peer.notify_progress(progress).await.is_err() {
                // The client is gone; ending the call is decided elsewhere.
                return std::future::pending().await;
            }
        }
    }

    fn pending(&self) -> MutexGuard<'_, Vec<u8>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watch for Progress {
    fn output(&self, _: Stream, bytes: &Bytes) {
        if self.client.is_none() {
            return;
        }
        let mut pending = self.pending();
        pending.extend_from_slice(bytes.get(bytes.len().saturating_sub(MOST)..).unwrap_or_default());
        let too_many = pending.len().saturating_sub(MOST);
        pending.drain(..too_many);
    }
}

fn text(bytes: &[u8]) -> String {
    let (mut sanitizer, mut shown) = (Sanitizer::new(Colours::LeftOut), Vec::new());
    sanitizer.push(bytes, &mut shown);
    sanitizer.finish(&mut shown);
    String::from_utf8_lossy(&shown).into_owned()
}
