//! `cargo xtask soak`: the stress tests at full length.
//!
//! The tests read `EXEC_TEST_SOAK`; `cargo xtask test` runs the same tests with smaller numbers. Release,
//! because races show at full speed, and as whoever calls: run it as root and as an ordinary user.

use anyhow::Result;

use crate::cargo::{cargo, run as run_command};

/// Runs all integration tests of the crates that have long versions.
pub(crate) fn run() -> Result<()> {
    let mut test = cargo(&["test", "--release", "-p", "exec-local", "-p", "agentctl", "--test", "*"]);
    run_command(test.env("EXEC_TEST_SOAK", "1"))
}
