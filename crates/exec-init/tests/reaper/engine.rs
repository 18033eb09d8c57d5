//! A fake engine that knows one request: the removal of a container.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tempfile::TempDir;

/// Serves until the test's process ends.
pub(crate) struct Engine {
    dir: TempDir,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Engine {
    /// Answers with `answer(name, n)` to the n-th request for a name, from 1.
    pub(crate) fn start(answer: impl Fn(&str, usize) -> u16 + Send + 'static) -> Self {
        let dir = tempfile::tempdir().expect("directory");
        let listener = UnixListener::bind(socket_in(dir.path())).expect("socket");
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.expect("connection");
                let name = removed_name(&stream);
                let mut log = log.lock().expect("log");
                log.push(name.clone());
                let count = log.iter().filter(|asked| **asked == name).count();
                let reply =
                    format!("HTTP/1.1 {} Whatever\r\nContent-Length: 0\r\n\r\n", answer(&name, count));
                // The reaper reads no more than it needs.
                let _ = stream.write_all(reply.as_bytes());
            }
        });
        Self { dir, asked }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        socket_in(self.dir.path())
    }

    /// The requested names, in order.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("log").clone()
    }
}

fn socket_in(dir: &Path) -> PathBuf {
    dir.join("engine.sock")
}

/// Reads a whole request, which must be a removal.
fn removed_name(stream: &UnixStream) -> String {
    let lines: Vec<String> = BufReader::new(stream)
        .lines()
        .map(|line| line.expect("a line"))
        .take_while(|line| !line.is_empty())
        .collect();
    assert!(lines.iter().any(|line| line == "Connection: close"), "{lines:?}");
    let name = lines[0]
        .strip_prefix("DELETE /containers/")
        .and_then(|rest| rest.strip_suffix("?force=true&v=true HTTP/1.1"));
    name.expect("a removal").to_owned()
}
