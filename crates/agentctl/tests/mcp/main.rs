//! `agentctl mcp` with the real MCP client, in both modes of the protocol.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test ends where it fails")]

#[cfg(target_os = "linux")]
mod cases;
#[cfg(target_os = "linux")]
mod client;
#[cfg(target_os = "linux")]
#[path = "../cli/support/mod.rs"]
#[expect(dead_code, unused_imports, reason = "shared with the tests of everything else")]
mod support;

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    exec_testkit::suite("mcp", client::available(), &cases::ALL)
}

/// Sandboxes are Linux.
#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    ExitCode::SUCCESS
}
