//! An executor with minimal time-outs, and its messages when it fails.

use std::time::{Duration, Instant};

use exec_core::{Cmd, Error, ExecOpts, Executor};
use exec_docker::{ContainerConfig, DockerConfig, DockerExec, Patience};

use crate::fake::FakeEngine;

/// Limits so short that a hanging engine does not hold up a test.
const SHORT: Patience = Patience {
    greet: Duration::from_millis(300),
    ask: Duration::from_millis(300),
    make: Duration::from_millis(300),
    remove: Duration::from_secs(1),
};

/// Far more than any of these takes, and still bounded.
const AT_MOST: Duration = Duration::from_secs(60);

pub(crate) fn config(host: &str) -> DockerConfig {
    let containers = ContainerConfig { warm_cells: 0, patience: SHORT, ..ContainerConfig::default() };
    DockerConfig { host: Some(host.to_owned()), containers }
}

pub(crate) async fn connect(host: &str) -> Result<DockerExec, Error> {
    tokio::time::timeout(AT_MOST, DockerExec::new(config(host))).await.expect("a bounded time")
}

/// Why this address has no executor.
pub(crate) async fn refusal(host: &str) -> Error {
    connect(host).await.expect_err("no engine")
}

/// Runs a command on the engine, which must fail.
pub(crate) async fn failure(executor: &DockerExec) -> Error {
    let workspace = tempfile::tempdir().unwrap();
    let (cmd, opts) = (Cmd::new("true"), ExecOpts::in_workspace(workspace.path()));
    let ran = tokio::time::timeout(AT_MOST, executor.run(&cmd, &opts)).await;
    ran.expect("a bounded time").expect_err("a command ran on no engine")
}

/// The message as a user reads it, without the address of this test's engine and the name of the container.
pub(crate) fn said(error: &Error, fake: Option<&FakeEngine>) -> String {
    let mut text = format!(
        "{:?}: {error}\n-> {}",
        error.kind(),
        error.remedy().map_or_else(|| "nothing".to_owned(), ToString::to_string)
    );
    if let Some(fake) = fake {
        text = text.replace(&fake.host(), "[engine]");
    }
    for name in names(&text) {
        text = text.replace(&name, "[container]");
    }
    text
}

fn names(text: &str) -> Vec<String> {
    let is_end = |c: char| !(c.is_ascii_alphanumeric() || c == '-');
    let prefix = format!("agentctl-{}-", std::process::id());
    let begins = text.match_indices(&prefix).map(|(at, _)| at);
    let name = |at: usize| text[at..].split(is_end).next().unwrap_or_default().to_owned();
    begins.map(name).collect()
}

/// Waits until a condition holds.
pub(crate) async fn eventually(what: &str, is_true: impl Fn() -> bool) {
    let end = Instant::now() + AT_MOST;
    while !is_true() {
        assert!(Instant::now() < end, "{what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
