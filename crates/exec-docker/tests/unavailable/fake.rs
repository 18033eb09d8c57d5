//! A server that answers like an engine, except where a test overrides it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinHandle;

/// The answer to a request.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    bytes: Vec<u8>,
    then: Then,
}

#[derive(Debug, Clone, Copy)]
enum Then {
    HangUp,
    HoldTheLine,
}

impl Reply {
    /// Exactly these bytes, and then the end of the stream.
    pub(crate) fn raw(bytes: impl AsRef<[u8]>) -> Self {
        Self { bytes: bytes.as_ref().to_vec(), then: Then::HangUp }
    }

    /// Exactly these bytes, and then silence.
    pub(crate) fn endless(bytes: impl AsRef<[u8]>) -> Self {
        Self { bytes: bytes.as_ref().to_vec(), then: Then::HoldTheLine }
    }

    pub(crate) fn and_hang_up(self) -> Self {
        Self { then: Then::HangUp, ..self }
    }

    pub(crate) fn silence() -> Self {
        Self::endless([])
    }

    pub(crate) fn json(status: &str, body: &str) -> Self {
        let length = body.len();
        Self::raw(format!(
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
             Connection: close\r\n\r\n{body}"
        ))
    }

    /// An answer shorter than its declared length.
    pub(crate) fn cut_off(status: &str, body: &str) -> Self {
        Self::raw(format!(
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n{body}"
        ))
    }

    /// The description of an engine of this architecture. It has this kernel, so a host image can be made.
    pub(crate) fn info(architecture: &str) -> Self {
        let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
        let info = format!(
            r#"{{"Architecture":"{architecture}","KernelVersion":"{}","ServerVersion":"20.10.24","MemoryLimit":true,"PidsLimit":true,"SecurityOptions":["name=seccomp,profile=default"]}}"#,
            kernel.trim()
        );
        Self::json("200 OK", &info)
    }

    /// The beginning of a container's streams.
    pub(crate) fn upgraded(stream: &[u8]) -> Self {
        let head = b"HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\n\
            Connection: Upgrade\r\nUpgrade: tcp\r\n\r\n";
        Self::endless([head.as_slice(), stream].concat())
    }
}

/// A rule for requests whose first line contains this text; the first match counts.
type Rule = (&'static str, Reply);

/// The server. It ends with this value.
#[derive(Debug)]
pub(crate) struct FakeEngine {
    dir: TempDir,
    state: Arc<State>,
    task: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct State {
    rules: Mutex<Vec<Rule>>,
    requests: Mutex<Vec<String>>,
}

impl FakeEngine {
    /// A healthy engine except for these rules.
    pub(crate) fn new(rules: impl IntoIterator<Item = Rule>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(socket(dir.path())).unwrap();
        let state = Arc::new(State { rules: Mutex::new(rules.into_iter().collect()), ..State::default() });
        let serving = Arc::clone(&state);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                // A client that hangs up is part of these tests.
                let serving = Arc::clone(&serving);
                tokio::spawn(async move { serve(stream, &serving).await.ok() });
            }
        });
        Self { dir, state, task }
    }

    pub(crate) fn host(&self) -> String {
        format!("unix://{}", socket(self.dir.path()).display())
    }

    /// Replaces the rules.
    pub(crate) fn change(&self, rules: impl IntoIterator<Item = Rule>) {
        *self.state.rules.lock().unwrap() = rules.into_iter().collect();
    }

    /// First lines of the requests that contain this text.
    pub(crate) fn requests(&self, containing: &str) -> Vec<String> {
        let requests = self.state.requests.lock().unwrap();
        requests.iter().filter(|request| request.contains(containing)).cloned().collect()
    }
}

impl Drop for FakeEngine {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn socket(dir: &Path) -> PathBuf {
    dir.join("engine.sock")
}

async fn serve(mut stream: UnixStream, state: &State) -> std::io::Result<()> {
    let request = read_request(&mut stream).await?;
    state.requests.lock().unwrap().push(request.clone());
    let ruled = state.rules.lock().unwrap().iter().find(|(part, _)| request.contains(part)).cloned();
    let reply = ruled.map_or_else(|| well(&request), |(_, reply)| reply);
    stream.write_all(&reply.bytes).await?;
    match reply.then {
        Then::HangUp => stream.shutdown().await,
        // Until the client closes the connection.
        Then::HoldTheLine => tokio::io::copy(&mut stream, &mut tokio::io::sink()).await.map(drop),
    }
}

/// Reads a whole request and returns its first line.
async fn read_request(stream: &mut UnixStream) -> std::io::Result<String> {
    let mut taken = Vec::new();
    loop {
        if stream.read_buf(&mut taken).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let text = String::from_utf8_lossy(&taken);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
        });
        if body.len() >= length.unwrap_or(0) {
            return Ok(head.lines().next().unwrap_or_default().to_owned());
        }
    }
}

/// The answers of a healthy engine.
fn well(request: &str) -> Reply {
    let is = |parts: [&str; 2]| parts.iter().all(|part| request.contains(part));
    if is(["GET", "/_ping"]) {
        return Reply::raw(
            "HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nServer: Docker/20.10.24 (linux)\r\nContent-Length: 2\r\n\r\nOK",
        );
    }
    if is(["GET", "/events"]) {
        return Reply::endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    }
    if is(["GET", "/info"]) {
        return Reply::info(std::env::consts::ARCH);
    }
    if is(["GET", "/images/"]) {
        return Reply::json("200 OK", r#"{"Id":"sha256:00","Architecture":"amd64"}"#);
    }
    if is(["POST", "/containers/create"]) {
        return Reply::json("201 Created", r#"{"Id":"c0ffee","Warnings":[]}"#);
    }
    if is(["POST", "/attach"]) {
        return Reply::upgraded(&[]);
    }
    if is(["POST", "/start"]) || is(["DELETE", "/containers/"]) {
        return Reply::raw("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
    }
    Reply::json("404 Not Found", r#"{"message":"No such container: it"}"#)
}
