//! What a command on Podman costs.
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

/// The engine's name, and its program's.
const ENGINE: &str = "podman";

/// What the engine's own `run` is told beyond what all are: its own limits are more than some hosts allow.
const RUN_OPTIONS: [&str; 4] = ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=4096:4096"];

/// The engine's own program, with a runtime that can work here.
fn client() -> Command {
    let mut client = Command::new(ENGINE);
    // Control groups of both kinds, which the runtime it prefers refuses.
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
