//! How long an engine may take before it counts as hanging.

use std::time::Duration;

/// How long an engine may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// To answer a ping, which takes a running engine a millisecond.
    pub greet: Duration,
    /// To answer a query, which takes it milliseconds.
    pub ask: Duration,
    /// To create or start something: seconds at most, even on a busy machine.
    pub make: Duration,
    /// To remove a container.
    pub remove: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            greet: Duration::from_secs(5),
            ask: Duration::from_secs(10),
            make: Duration::from_secs(60),
            remove: Duration::from_secs(20),
        }
    }
}
