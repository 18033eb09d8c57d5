//! Local cells against real kernels: every claim about their walls is tested from inside, next to a control
//! that shows the same thing possible outside.
//!
//! As root every probe runs three times: an ordinary user's cell made by root, a cell in which user 0 runs without
//! capabilities, and a cell made by an ordinary user.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that can't continue has failed"
)]

mod attacks;
mod cell;
mod ends;
mod limits;
mod mounts;
mod probe;
mod spec;
