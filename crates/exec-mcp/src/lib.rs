//! The tools of `exec-tools` as an MCP server, on standard streams or on loopback HTTP.
//!
//! This crate knows the protocol and nothing else: what a tool does, what it may and what it answers is `exec-tools`'s. Output
//! is told while a command runs (progress), a cancelled call kills its command, and with the client everything goes.

mod http;
mod lobby;
mod progress;
mod server;
mod stdio;

pub use http::{Listener, Token};
pub use server::Server;
pub use stdio::serve_stdio;
