//! The cost of a command on Docker.
#![expect(clippy::expect_used, reason = "a bench that fails must stop")]

mod build;
mod mcp;
mod measure;
mod rig;
mod turns;

use std::process::Command;

use criterion::{criterion_group, criterion_main};
use exec_core::Executor;
use exec_docker::{ContainerConfig, DockerConfig, DockerExec};

/// The name of the engine and of its client.
const ENGINE: &str = "docker";

/// Extra options for the engine's own `run`.
const RUN_OPTIONS: [&str; 0] = [];

/// The engine's own client.
fn client() -> Command {
    Command::new(ENGINE)
}

async fn executor(containers: ContainerConfig) -> Box<dyn Executor> {
    let config = DockerConfig { containers, ..DockerConfig::default() };
    Box::new(DockerExec::new(config).await.expect("Docker"))
}

criterion_group!(
    benches,
    measure::commands,
    measure::sessions,
    measure::builds,
    measure::streams,
    mcp::tools
);
criterion_main!(benches);
