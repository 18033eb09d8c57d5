//! Options of `agentctl mcp`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use exec_core::ByteSize;
use exec_tools::Tool;

use super::HowArgs;

/// Give an AI client tools to run commands in a sandbox (MCP server).
///
/// Speaks MCP on its standard streams; an MCP client starts it. The client's model gets tools to run commands, to start, read,
/// write and stop background ones, and to look at the sandbox. The options here say how commands run, and no call can loosen
/// them. All commands of a client share one sandbox: /tmp and background processes last until the client is gone, and then
/// nothing is left.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  agentctl mcp --print-config claude-code
  agentctl mcp --workspace ~/project --memory 4g --timeout 10m
  agentctl mcp --workspace-mode ro --only run_command
  AGENTCTL_MCP_TOKEN=$(openssl rand -hex 32) agentctl mcp --http 127.0.0.1:8765")]
pub(crate) struct McpArgs {
    /// Print what makes a client start this server with these options, and where to put it.
    #[arg(long, value_enum, value_name = "CLIENT", help_heading = "Server")]
    pub(crate) print_config: Option<ClientArg>,

    /// Serve HTTP on a loopback address instead of standard streams.
    ///
    /// Clients send the token of the variable `AGENTCTL_MCP_TOKEN`; without that variable a token is made and shown. Port 0 takes
    /// any that is free. The sandbox lasts as long as the server.
    #[arg(long, value_name = "ADDR:PORT", help_heading = "Server")]
    pub(crate) http: Option<SocketAddr>,

    /// Give the model this tool and no others; may be given again.
    #[arg(long, value_name = "TOOL", help_heading = "Server")]
    pub(crate) only: Vec<Tool>,

    /// Serve a worker of this workshop: in its sandbox, with the tools the worker may use.
    #[arg(long, value_name = "FILE", requires = "worker", help_heading = "Server")]
    pub(crate) workshop: Option<PathBuf>,

    /// Which worker of the workshop.
    #[arg(long, value_name = "NAME", requires = "workshop", help_heading = "Server")]
    pub(crate) worker: Option<String>,

    /// Most of each output stream that one answer shows [default: 32k].
    ///
    /// Half from its beginning and half from its end; what is left out is counted.
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
