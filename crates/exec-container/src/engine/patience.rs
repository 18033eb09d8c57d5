//! How long an engine may take before it counts as one that hangs.

use std::time::Duration;

/// How long an engine may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// To say who it is. One that is there does so in a millisecond.
    pub greet: Duration,
    /// To answer a question, which costs it milliseconds.
    pub ask: Duration,
    /// To make or start something: seconds at most, even on a busy machine.
    pub make: Duration,
    /// To remove a container that has to go.
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
