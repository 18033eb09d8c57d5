//! A Podman service for one executor: on a socket that nobody else reaches, gone when nobody uses it any more.
//!
//! The service ends by itself a little after the last connection to it has, so it needs nobody to end it: whichever way this
//! process dies, its connections die with it. Until then the service serves the reaper that cleans up after us. While the
//! executor lives the service is not idle, because the stream of its events stays open.

mod place;

use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use exec_container::{Greeting, Patience, Product, greet};
use exec_core::{Error, ErrorKind, Result};
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep};

use crate::{Endpoint, Facts, Here, NAME, runtime};

/// Seconds without a connection after which the service ends. Longer than a reaper waits between two questions.
const IDLE: &str = "5";

/// Between two looks whether it listens; it takes some fifty milliseconds.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// Variables that would make Podman's program talk to another service, or take it for one that systemd started.
const NOT_PASSED_ON: [&str; 7] = [
    "CONTAINER_HOST",
    "CONTAINER_CONNECTION",
    "CONTAINER_SSHKEY",
    "DOCKER_HOST",
    "LISTEN_FDS",
    "LISTEN_PID",
    "NOTIFY_SOCKET",
];

/// The most that is told of what it said before it ended.
const SAID: usize = 2000;

/// A service of ours.
#[derive(Debug)]
pub(crate) struct Service {
    socket: PathBuf,
    /// Waited for by the runtime when it has ended.
    _process: Child,
}

impl Service {
    pub(crate) fn endpoint(&self) -> Endpoint {
        Endpoint::Unix(self.socket.clone())
    }
}

/// Starts one and waits until it answers.
pub(crate) async fn start(program: &Path, facts: &Facts, patience: Patience) -> Result<(Service, Greeting)> {
    let socket = place::socket(&Here)?;
    let unusable = |error: std::io::Error| failed("can't be started").with_source(error);
    let mut said = tempfile::tempfile().map_err(unusable)?;
    let mut process = command(program, facts, &socket)
        .stderr(said.try_clone().map_err(unusable)?)
        .spawn()
        .map_err(unusable)?;
    tracing::debug!(socket = %socket.display(), pid = process.id(), "started a Podman service");
    let endpoint = Endpoint::Unix(socket.clone());
    let deadline = Instant::now() + patience.make;
    loop {
        match greet(&endpoint, patience.greet).await {
            Ok(greeting) if greeting.product == Product::Podman => {
                return Ok((Service { socket, _process: process }, greeting));
            }
            other => tracing::trace!(?other, "the service does not listen yet"),
        }
        if let Some(status) = process.try_wait().map_err(unusable)? {
            return Err(
                failed(&format!("ended at once: {}", last_words(&mut said))).with_context("status", status)
            );
        }
        if Instant::now() > deadline {
            // It may come to itself later; then it ends because nobody uses it.
            return Err(failed("does not answer").with_context("waited", format!("{:?}", patience.make)));
        }
        sleep(LOOK_AGAIN).await;
    }
}

fn command(program: &Path, facts: &Facts, socket: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(runtime::options(&Here, facts.cgroups));
    command.args(["system", "service", "--time", IDLE]);
    command.arg(format!("unix://{}", socket.display()));
    for name in NOT_PASSED_ON {
        command.env_remove(name);
    }
    // Of its own: what a terminal sends to ours is not meant for it, and it has to outlive us for a moment.
    #[cfg(unix)]
    command.process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command
}

/// The end of what it said, on one line.
fn last_words(said: &mut File) -> String {
    let mut text = String::new();
    // What can't be read is not told; that it ended is.
    let _ = said.rewind().and_then(|()| said.read_to_string(&mut text));
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let skipped = words.chars().count().saturating_sub(SAID);
    words.chars().skip(skipped).collect()
}

fn failed(what: &str) -> Error {
    Error::new(ErrorKind::Unavailable, "start engine", format!("a Podman service of our own {what}"))
        .with_backend(NAME)
        .with_remedy("see what `podman info` says, or say with CONTAINER_HOST where a service listens")
}
