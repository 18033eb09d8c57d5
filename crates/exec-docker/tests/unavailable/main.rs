//! Engines that are missing or answer garbage: the messages, in bounded time, and the leftovers.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

mod absent;
mod attach;
mod fake;
mod greeting;
mod making;
mod support;
