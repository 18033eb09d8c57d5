//! Engines that are not there, or talk nonsense: what a person reads, in bounded time, and what is left behind.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

mod absent;
mod attach;
mod fake;
mod greeting;
mod making;
mod support;
