//! Deadlines on the monotonic clock.

use std::time::{Duration, Instant};

/// `None` means never: the limit is too far away to be a point in time.
pub(crate) fn after(now: Instant, millis: u64) -> Option<Instant> {
    now.checked_add(Duration::from_millis(millis))
}

pub(crate) fn is_due(deadline: Option<Instant>, now: Instant) -> bool {
    deadline.is_some_and(|deadline| deadline <= now)
}

/// The earlier of two deadlines.
pub(crate) fn sooner(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_is_later_than_anything() {
        let now = Instant::now();
        assert!(after(now, u64::MAX) > after(now, 1));
        assert_eq!(sooner(None, Some(now)), Some(now));
        assert!(!is_due(None, now));
        assert!(is_due(Some(now), now));
    }
}
