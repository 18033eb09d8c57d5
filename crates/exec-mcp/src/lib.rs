//! The tools of `exec-tools` as an MCP server, on standard streams or on loopback HTTP.
//!
//! This crate knows only the protocol: the tools, their limits and their answers are those of `exec-tools`. Output is
//! reported while a command runs (progress), a cancelled call kills its command, and everything ends with the client.

mod http;
mod lobby;
mod progress;
mod server;
mod stdio;

pub use http::{Listener, Token};
pub use server::Server;
pub use stdio::serve_stdio;
