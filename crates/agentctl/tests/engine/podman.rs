//! `agentctl run --sandbox podman` as a user runs it.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test ends where it fails")]

#[cfg(target_os = "linux")]
mod build;
#[cfg(target_os = "linux")]
mod directory;
#[cfg(target_os = "linux")]
#[expect(dead_code, reason = "the other engine's half")]
mod doctor;
#[cfg(target_os = "linux")]
mod doctor_podman;
#[cfg(target_os = "linux")]
mod emergency;
#[cfg(target_os = "linux")]
mod engines;
#[cfg(target_os = "linux")]
mod gc;
#[cfg(target_os = "linux")]
mod hostile;
#[cfg(target_os = "linux")]
mod images;
#[cfg(target_os = "linux")]
mod killed;
#[cfg(target_os = "linux")]
mod private;
#[cfg(target_os = "linux")]
mod registry;
#[cfg(target_os = "linux")]
mod runs;
#[cfg(target_os = "linux")]
mod sample;
#[cfg(target_os = "linux")]
mod service;
#[cfg(target_os = "linux")]
mod suite;
#[cfg(target_os = "linux")]
#[path = "../cli/support/mod.rs"]
#[expect(dead_code, unused_imports, reason = "shared with the tests of everything else")]
mod support;

use std::process::ExitCode;

/// The engine of these tests.
#[cfg(target_os = "linux")]
const ENGINE: engines::Engine = engines::PODMAN;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    exec_testkit::suite(
        ENGINE.name,
        ENGINE.available(),
        &[&suite::ALL[..], &service::ALL, &doctor_podman::ALL].concat(),
    )
}

/// Containers are Linux.
#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    ExitCode::SUCCESS
}
