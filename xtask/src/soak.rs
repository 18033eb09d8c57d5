//! `cargo xtask soak`: the stress tests at full length.
//!
//! The tests read `EXEC_TEST_SOAK`; `cargo xtask test` runs the same tests with smaller numbers. They are
//! built in release mode, because races show at full speed, and run as the current user: run this as root and
//! as an ordinary user.

use anyhow::Result;

use crate::cargo::{cargo, run as run_command};

/// Runs all integration tests of the crates that have long versions.
pub(crate) fn run() -> Result<()> {
    let mut test = cargo(&["test", "--release", "-p", "exec-local", "-p", "agentctl", "--test", "*"]);
    run_command(test.env("EXEC_TEST_SOAK", "1"))
}
