//! Options of `agentctl mcp`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use exec_core::ByteSize;
use exec_tools::Tool;

use super::HowArgs;

/// Serve sandboxed command tools to an AI client (MCP).
///
/// Speaks MCP on its standard streams; an MCP client starts it. The client's model gets tools to run
/// commands, to start, read, write and stop background ones, and to inspect the sandbox. The options here set
/// how commands run, and no call can loosen them. All commands of a client share one sandbox: /tmp and
/// background processes last until the client is gone, and then nothing is left.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  agentctl mcp --print-config claude-code
  agentctl mcp --workspace ~/project --memory 4g --timeout 10m
  agentctl mcp --workspace-mode ro --only run_command
  AGENTCTL_MCP_TOKEN=$(openssl rand -hex 32) agentctl mcp --http 127.0.0.1:8765")]
pub(crate) struct McpArgs {
    /// Print a client's configuration for this server, and where to put it.
    #[arg(long, value_enum, value_name = "CLIENT", help_heading = "Server")]
    pub(crate) print_config: Option<ClientArg>,

    /// Serve HTTP on a loopback address instead of standard streams.
    ///
    /// Clients send the token in the variable `AGENTCTL_MCP_TOKEN`; without that variable a token is made and
    /// shown. Port 0 selects a free one. The sandbox lasts as long as the server.
    #[arg(long, value_name = "ADDR:PORT", help_heading = "Server")]
    pub(crate) http: Option<SocketAddr>,

    /// Give the model this tool and no others; may be repeated.
    #[arg(long, value_name = "TOOL", help_heading = "Server")]
    pub(crate) only: Vec<Tool>,

    /// Serve a worker of this workshop, in its sandbox and with its tools.
    #[arg(long, value_name = "FILE", requires = "worker", help_heading = "Server")]
    pub(crate) workshop: Option<PathBuf>,

    /// Select the worker of the workshop.
    #[arg(long, value_name = "NAME", requires = "workshop", help_heading = "Server")]
    pub(crate) worker: Option<String>,

    /// Show at most this much of each output stream [default: 32k].
    ///
    /// Half from its beginning and half from its end; omitted bytes are counted.
    #[arg(long, value_name = "SIZE", help_heading = "Server")]
    pub(crate) reply_size: Option<ByteSize>,

    #[command(flatten)]
    pub(crate) how: HowArgs,
}

/// A client that can use MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClientArg {
    /// Claude Code.
    ClaudeCode,
    /// Claude Desktop.
    ClaudeDesktop,
    /// Codex.
    Codex,
    /// Cursor.
    Cursor,
    /// VS Code.
    Vscode,
}
