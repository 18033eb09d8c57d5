//! `agentctl mcp --http` with misbehaving clients.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::support::{Place, program};

const TOKEN: &str = "a-token-that-is-long-enough";

/// More than the server's limit of open files.
const HALF_REQUESTS: usize = 400;

/// Nothing here takes this long.
const PATIENCE: Duration = Duration::from_secs(15);

struct Server {
    child: Child,
    address: String,
    said: BufReader<std::process::ChildStderr>,
}

impl Server {
    /// Accepts few connections, so that a test need not open thousands.
    fn start(place: &Place) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -n 256; exec \"$@\"", "sh"]).arg(program());
        command.args(["mcp", "--quiet", "--http", "127.0.0.1:0"]).env("AGENTCTL_MCP_TOKEN", TOKEN);
        let mut child =
            place.at_home(&mut command).stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let url = line.trim().rsplit(' ').next().unwrap();
        let address = url.strip_prefix("http://").and_then(|url| url.strip_suffix("/mcp"));
        let address = address.unwrap_or_else(|| panic!("{line}")).to_owned();
        Self { child, address, said }
    }

    fn connect(&self) -> TcpStream {
        let address = self.address.parse().unwrap();
        let stream = TcpStream::connect_timeout(&address, PATIENCE).expect("the server takes connections");
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// The first line of the answer to a whole request.
    fn ask(&self, token: &str) -> String {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
        let mut stream = self.connect();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        let mut line = String::new();
        let asked = stream.write_all(format!("{head}{body}").as_bytes());
        let answered = asked.and_then(|()| BufReader::new(stream).read_line(&mut line));
        answered.map_or_else(|error| error.to_string(), |_| line)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let mut rest = String::new();
        let _ = self.said.read_to_string(&mut rest);
    }
}

/// A48: hundreds of unfinished requests cost their senders the connection; other clients are served.
#[test]
fn unfinished_requests_do_not_block_other_clients() {
    let place = Place::new();
    let server = Server::start(&place);
    assert!(server.ask(TOKEN).contains("200"), "the control");
    let half = || {
        let mut stream = server.connect();
        // A full server refuses at once; that is just as good.
        let _ = stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Half: ");
        stream
    };
    let mut halves: Vec<TcpStream> = (0..HALF_REQUESTS).map(|_| half()).collect();
    let answer = server.ask(TOKEN);
    assert!(answer.contains("200"), "{answer:?}");
    assert!(server.ask("another-token-of-that-length").contains("401"), "the token still counts");
    let gone = halves[0].read(&mut [0; 16]);
    let is_closed = matches!(&gone, Ok(0))
        || gone.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionReset);
    assert!(is_closed, "the oldest gave way: {gone:?}");
}

/// The token's variable is a known one.
#[test]
fn no_warning_about_its_variable() {
    let place = Place::new();
    let output = place.agentctl(["run", "--", "true"]).env("AGENTCTL_MCP_TOKEN", TOKEN).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !said.contains("means nothing"), "{said}");
}
