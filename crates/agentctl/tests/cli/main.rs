//! `agentctl` as a user runs it: the real program, real processes, real terminals.
//!
//! `AGENTCTL_BIN` names the program to test, if cargo did not build it.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test ends where it fails")]

mod audit;
mod auto;
mod bad_input;
mod bootstrap;
mod config;
mod config_files;
mod control;
mod directory;
mod emergency;
mod exhausted;
mod exit_status;
mod figures;
mod forbidden;
mod help;
mod hostile;
mod hostile_files;
mod json;
mod mcp_http;
mod printable;
mod reach;
mod secrets;
mod session;
mod signals;
mod state_dir;
mod stop;
mod streams;
mod support;
mod terminal;
mod top;
mod workshop;
