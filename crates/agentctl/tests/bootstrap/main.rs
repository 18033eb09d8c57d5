//! The files that `agentctl bootstrap-docker` writes, in their real consumers: a linter, compose, and an
//! engine that builds them. The tests need no registry: images made of this machine's own programs replace
//! the official ones.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test ends where it fails")]

#[cfg(target_os = "linux")]
mod base;
#[cfg(target_os = "linux")]
mod builds;
#[cfg(target_os = "linux")]
mod compose;
#[cfg(target_os = "linux")]
#[path = "../cli/support/mod.rs"]
#[expect(dead_code, unused_imports, reason = "shared with the tests of everything else")]
mod support;
#[cfg(target_os = "linux")]
mod tools;

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    use exec_testkit::engine_test;
    let tests = [
        engine_test!(tools::hadolint_reports_nothing, "R71"),
        engine_test!(tools::compose_accepts_every_file, "R74"),
        engine_test!(builds::go, "R71 R76"),
        engine_test!(builds::node, "R71"),
        engine_test!(builds::python_twice_from_clean, "R71 R72"),
        engine_test!(builds::rust, "R71"),
        engine_test!(compose::an_application_comes_and_goes, "R23 R74"),
    ];
    let ended = exec_testkit::suite("docker", tools::docker().map(drop), &tests);
    base::remove();
    ended
}

/// Engines run on Linux.
#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    ExitCode::SUCCESS
}
