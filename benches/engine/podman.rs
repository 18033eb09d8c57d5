//! The cost of a command on Podman.
#![expect(clippy::expect_used, reason = "a bench that fails must stop")]

mod build;
mod measure;
mod rig;
mod turns;

use std::path::Path;
use std::process::Command;

use criterion::{criterion_group, criterion_main};
use exec_core::Executor;
use exec_podman::{ContainerConfig, PodmanConfig, PodmanExec};

/// The name of the engine and of its client.
const ENGINE: &str = "podman";

/// Extra options for the engine's own `run`: its default limits exceed what some hosts allow.
const RUN_OPTIONS: [&str; 4] = ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=4096:4096"];

/// The engine's own client, with a runtime that works here.
fn client() -> Command {
    let mut client = Command::new(ENGINE);
    // The preferred runtime refuses hosts with both versions of control groups.
    if Path::new("/sys/fs/cgroup/unified").exists() {
        client.args(["--runtime", "runc"]);
    }
    client
}

async fn executor(containers: ContainerConfig) -> Box<dyn Executor> {
    let config = PodmanConfig { containers, ..PodmanConfig::default() };
    Box::new(PodmanExec::new(config).await.expect("Podman"))
}

criterion_group!(benches, measure::commands, measure::sessions, measure::builds, measure::streams);
criterion_main!(benches);
