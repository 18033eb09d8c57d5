//! Connections that have not shown the token yet: a bounded number, of which the oldest is closed first.
//!
//! Any process on this machine can connect and stay silent. So waiting connections are few, and never keep a new one
//! out. A connection that has shown the token no longer waits.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

/// More than a client opens at once, and far fewer than the process's file limit.
const MOST: usize = 64;

/// The waiting connections, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Lobby(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    next: u64,
    guests: VecDeque<(u64, CancellationToken)>,
}

/// A waiting connection's place; released on drop.
#[derive(Debug)]
pub(crate) struct Guest {
    number: u64,
    lobby: Arc<Lobby>,
    dismissed: CancellationToken,
}

impl Lobby {
    /// Adds a connection; without room for it, the one that has waited longest is dismissed.
    pub(crate) fn enter(self: &Arc<Self>) -> Guest {
        let mut waiting = self.lock();
        let number = waiting.next;
        waiting.next += 1;
        if waiting.guests.len() >= MOST
            && let Some((_, oldest)) = waiting.guests.pop_front()
        {
            oldest.cancel();
        }
        let dismissed = CancellationToken::new();
        waiting.guests.push_back((number, dismissed.clone()));
        Guest { number, lobby: Arc::clone(self), dismissed }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Guest {
    /// Ends the connection's wait: it can no longer be dismissed.
    pub(crate) fn admit(&self) {
        self.lobby.lock().guests.retain(|(number, _)| *number != self.number);
    }

    /// Returns when the connection must close to make room.
    pub(crate) async fn dismissed(&self) {
        self.dismissed.cancelled().await;
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.admit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A48
    #[test]
    fn the_oldest_that_waits_gives_way() {
        let lobby = Arc::new(Lobby::default());
        let (known, oldest) = (lobby.enter(), lobby.enter());
        known.admit();
        let others: Vec<Guest> = (1..MOST).map(|_| lobby.enter()).collect();
        assert!(!oldest.dismissed.is_cancelled(), "there is room");
        let newest = lobby.enter();
        assert!(oldest.dismissed.is_cancelled());
        assert!(!known.dismissed.is_cancelled() && !newest.dismissed.is_cancelled());
        drop(others);
        assert_eq!(lobby.lock().guests.len(), 1, "only the newest waits");
    }
}
