//! Finds out which engine listens on an endpoint. It asks over a plain connection, so that every kind of failure
//! can be distinguished.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::Endpoint;

/// An answer is a few hundred bytes.
const MOST: u64 = 16 * 1024;

const QUESTION: &[u8] = b"GET /_ping HTTP/1.1\r\nHost: engine\r\nConnection: close\r\n\r\n";

/// An engine's answer to a ping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Greeting {
    /// The API version it speaks.
    pub api: (usize, usize),
    /// Its product.
    pub product: Product,
    /// Its own version, if reported.
    pub version: Option<String>,
    /// The user of the listening process, if the system reports it.
    pub user: Option<u32>,
    /// The working directory of that process, if the system reports it.
    pub directory: Option<PathBuf>,
}

/// An engine product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Product {
    /// Docker, or an engine that passes for it.
    Docker,
    /// Podman.
    Podman,
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Docker => "Docker",
            Self::Podman => "Podman",
        })
    }
}

impl Product {
    /// The name it is selected by, also the name of its CLI.
    pub fn name(self) -> &'static str {
        match self {
            Self::Docker => "docker",
            Self::Podman => "podman",
        }
    }
}

/// Why no valid answer came.
#[derive(Debug)]
pub enum Silence {
    /// The connection failed.
    Connect(io::Error),
    /// The connection succeeded, but no answer came in time.
    TimedOut,
    /// The answer is not an engine's.
    NotAnEngine(String),
}

/// Pings the endpoint and waits up to `limit` for the answer.
pub async fn greet(endpoint: &Endpoint, limit: Duration) -> Result<Greeting, Silence> {
    match tokio::time::timeout(limit, ask(endpoint)).await {
        Ok(answer) => answer,
        Err(_) => Err(Silence::TimedOut),
    }
}

async fn ask(endpoint: &Endpoint) -> Result<Greeting, Silence> {
    let (mut user, mut directory) = (None, None);
    let answer = match endpoint {
        #[cfg(unix)]
        Endpoint::Unix(path) => {
            let stream = tokio::net::UnixStream::connect(path).await.map_err(Silence::Connect)?;
            let peer = stream.peer_cred().ok();
            user = peer.map(|peer| peer.uid());
            directory = peer.and_then(|peer| std::fs::read_link(format!("/proc/{}/cwd", peer.pid()?)).ok());
            exchange(stream).await
        }
        #[cfg(windows)]
        Endpoint::NamedPipe(name) => {
            let pipe = tokio::net::windows::named_pipe::ClientOptions::new().open(name);
            exchange(pipe.map_err(Silence::Connect)?).await
        }
        Endpoint::Tcp { host, port } => {
            let stream = tokio::net::TcpStream::connect((host.as_str(), *port)).await;
            exchange(stream.map_err(Silence::Connect)?).await
        }
        _ => return Err(Silence::Connect(io::ErrorKind::Unsupported.into())),
    };
    let answer = answer.map_err(|why| Silence::NotAnEngine(why.to_string()))?;
    let greeting = parse(&answer).ok_or_else(|| Silence::NotAnEngine(beginning(&answer)))?;
    Ok(Greeting { user: user.take(), directory: directory.take(), ..greeting })
}

/// Reads up to the end of the header: some engines keep the connection open nevertheless.
async fn exchange(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> io::Result<Vec<u8>> {
    stream.write_all(QUESTION).await?;
    let mut answer = Vec::new();
    let mut limited = stream.take(MOST);
    while !answer.windows(4).any(|end| end == b"\r\n\r\n") {
        if limited.read_buf(&mut answer).await? == 0 {
            break;
        }
    }
    Ok(answer)
}

/// Parses the answer; user and directory are not part of it.
fn parse(answer: &[u8]) -> Option<Greeting> {
    let text = String::from_utf8_lossy(answer);
    let head = text.split("\r\n\r\n").next()?;
    let mut lines = head.split("\r\n");
    let status = lines.next()?.split(' ').nth(1)?;
    if status != "200" {
        return None;
    }
    let headers: Vec<(String, &str)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim()))
        .collect();
    let header = |name: &str| headers.iter().find(|(key, _)| key == name).map(|(_, value)| *value);
    let (major, minor) = header("api-version")?.split_once('.')?;
    // `Libpod/4.3.1 (linux)`
    let server = header("server").and_then(|server| server.split(' ').next()?.split_once('/'));
    let is_podman =
        header("libpod-api-version").is_some() || server.is_some_and(|(name, _)| name.starts_with("Libpod"));
    let product = if is_podman { Product::Podman } else { Product::Docker };
    let version = server.map(|(_, version)| version.to_owned());
    let api = (major.parse().ok()?, minor.parse().ok()?);
    Some(Greeting { api, product, version, user: None, directory: None })
}

/// The beginning of an answer, safe to show.
fn beginning(answer: &[u8]) -> String {
    let text = String::from_utf8_lossy(answer);
    let shown: String = text.chars().take(60).collect();
    if shown.is_empty() { "nothing".to_owned() } else { shown.escape_debug().to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_told_apart() {
        let greeting = |api, product, version: Option<&str>| {
            Some(Greeting { api, product, version: version.map(str::to_owned), user: None, directory: None })
        };
        let docker = b"HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nServer: Docker/20.10.24 (linux)\r\n\r\nOK";
        assert_eq!(parse(docker), greeting((1, 41), Product::Docker, Some("20.10.24")));
        let podman = b"HTTP/1.1 200 OK\r\nApi-Version: 1.40\r\nLibpod-Api-Version: 4.3.1\r\n\r\nOK";
        assert_eq!(parse(podman), greeting((1, 40), Product::Podman, None));
        let podman = b"HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nServer: Libpod/4.3.1 (linux)\r\n\r\nOK";
        assert_eq!(parse(podman), greeting((1, 41), Product::Podman, Some("4.3.1")));
    }

    /// F5
    #[test]
    fn anything_else_is_no_engine() {
        let answers: [&[u8]; 5] = [
            b"",
            b"SSH-2.0-OpenSSH\r\n",
            b"HTTP/1.1 404 Not Found\r\nApi-Version: 1.41\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nApi-Version: x.y\r\n\r\n",
            b"HTTP/1.1 200 OK\r\n\r\n\xff\xfe",
        ];
        for answer in answers {
            assert_eq!(parse(answer), None, "{}", beginning(answer));
        }
    }
}
