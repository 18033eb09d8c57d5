//! The configuration of each MCP client for this server. Pure.

use std::net::SocketAddr;

use exec_core::{Error, ErrorKind, Result};
use serde_json::{Value, json};

use crate::args::ClientArg;

/// Text to paste, and where.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Snippet {
    pub(crate) place: String,
    pub(crate) text: String,
}

/// The configuration for a client. `words` are the options that were typed next to `--print-config`. Clients
/// start servers in arbitrary directories, so the workspace is always named.
pub(crate) fn snippet(
    client: ClientArg,
    program: &str,
    workspace: &str,
    words: Vec<String>,
    http: Option<SocketAddr>,
) -> Result<Snippet> {
    let args: Vec<String> =
        ["mcp", "--workspace", workspace].map(str::to_owned).into_iter().chain(others(words)).collect();
    let server = match http {
        None => json!({"command": program, "args": args}),
        Some(address) => remote(client, address)?,
    };
    let place = |file: &str| format!("put this into {file}");
    Ok(match client {
        ClientArg::ClaudeCode => {
            Snippet { place: place("the project's .mcp.json"), text: servers("mcpServers", &server) }
        }
        ClientArg::ClaudeDesktop => Snippet {
            place: place("claude_desktop_config.json (Settings, Developer, Edit Config)"),
            text: servers("mcpServers", &server),
        },
        ClientArg::Cursor => {
            Snippet { place: place("the project's .cursor/mcp.json"), text: servers("mcpServers", &server) }
        }
        ClientArg::Vscode => {
            let mut server = server;
            if http.is_none() {
                server["type"] = json!("stdio");
            }
            Snippet { place: place("the project's .vscode/mcp.json"), text: servers("servers", &server) }
        }
        ClientArg::Codex => Snippet { place: place("~/.codex/config.toml"), text: toml(&server) },
    })
}

fn remote(client: ClientArg, address: SocketAddr) -> Result<Value> {
    let url = format!("http://{address}/mcp");
    let with_header = |value: &str| json!({"type": "http", "url": url, "headers": {"Authorization": value}});
    Ok(match client {
        ClientArg::ClaudeCode => with_header("Bearer ${AGENTCTL_MCP_TOKEN}"),
        ClientArg::Cursor | ClientArg::Vscode => with_header("Bearer ${env:AGENTCTL_MCP_TOKEN}"),
        ClientArg::Codex => json!({"url": url, "bearer_token_env_var": exec_config::MCP_TOKEN_VARIABLE}),
        ClientArg::ClaudeDesktop => {
            return Err(Error::new(
                ErrorKind::Unsupported,
                "print",
                "Claude Desktop's file has no servers on HTTP",
            )
            .with_remedy("leave --http out: Claude Desktop starts the server itself"));
        }
    })
}

fn servers(key: &str, server: &Value) -> String {
    // An object of strings can always be serialized.
    let text = serde_json::to_string_pretty(&json!({key: {"agentctl": server}})).unwrap_or_default();
    format!("{text}\n")
}

/// JSON's strings and lists of strings are valid TOML.
fn toml(server: &Value) -> String {
    let lines = server.as_object().into_iter().flatten().map(|(key, value)| format!("{key} = {value}\n"));
    format!("[mcp_servers.agentctl]\n{}", lines.collect::<String>())
}

/// The options that matter to the server.
fn others(words: Vec<String>) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--print-config" | "--workspace" | "-w" => drop(words.next()),
            // In the client's working directory they would mean other files.
            "--workshop" | "--config" => {
                let path = words.next().unwrap_or_default();
                let absolute = std::path::absolute(&path).map_or(path, |path| path.display().to_string());
                kept.extend([word, absolute]);
            }
            _ if word.starts_with("--print-config=") || word.starts_with("--workspace=") => {}
            _ if word.starts_with("-w") => {}
            _ => kept.push(word),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(client: ClientArg, http: Option<&str>) -> String {
        let words =
            ["--print-config", "x", "-w", "p", "--memory", "4g", "--workspace=q"].map(str::to_owned).into();
        let http = http.map(|address| address.parse().unwrap());
        snippet(client, "/usr/bin/agentctl", "/home/me/p \"1\"", words, http).unwrap().text
    }

    #[test]
    fn every_client_gets_its_own_format() {
        insta::assert_snapshot!(text(ClientArg::Codex, None), @r#"
        [mcp_servers.agentctl]
        args = ["mcp","--workspace","/home/me/p \"1\"","--memory","4g"]
        command = "/usr/bin/agentctl"
        "#);
        insta::assert_snapshot!(text(ClientArg::Vscode, None), @r#"
        {
          "servers": {
            "agentctl": {
              "args": [
                "mcp",
                "--workspace",
                "/home/me/p \"1\"",
                "--memory",
                "4g"
              ],
              "command": "/usr/bin/agentctl",
              "type": "stdio"
            }
          }
        }
        "#);
        for client in [ClientArg::ClaudeCode, ClientArg::ClaudeDesktop, ClientArg::Cursor] {
            let value: Value = serde_json::from_str(&text(client, None)).unwrap();
            assert_eq!(value["mcpServers"]["agentctl"]["command"], "/usr/bin/agentctl");
        }
    }

    #[test]
    fn files_are_named_for_everywhere() {
        let kept = others(["--config", "mine.toml", "--memory", "4g"].map(str::to_owned).into());
        assert!(std::path::Path::new(&kept[1]).is_absolute() && kept[1].ends_with("/mine.toml"), "{kept:?}");
        assert_eq!(kept[2..], ["--memory", "4g"]);
    }

    #[test]
    fn over_http_no_token_is_written() {
        insta::assert_snapshot!(text(ClientArg::Codex, Some("127.0.0.1:8765")), @r#"
        [mcp_servers.agentctl]
        bearer_token_env_var = "AGENTCTL_MCP_TOKEN"
        url = "http://127.0.0.1:8765/mcp"
        "#);
        assert!(text(ClientArg::Cursor, Some("127.0.0.1:1")).contains("${env:AGENTCTL_MCP_TOKEN}"));
    }
}
