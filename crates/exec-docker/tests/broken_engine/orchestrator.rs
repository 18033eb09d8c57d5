//! An orchestrator that can be killed: this test program, started once more with a single run.

use std::process::{Child, Command, ExitCode, Stdio};

use anyhow::{Context, Result};
use exec_core::{Cmd, ExecOpts, Executor};
use exec_docker::{DockerConfig, DockerExec};

use crate::engine::PrivateEngine;
use crate::processes::{eventually_alive, eventually_dead};
use crate::support::{ensure_nothing_is_left, sleeper, workspace};

const HOST: &str = "EXEC_DOCKER_TEST_ENGINE";
const MARKER: &str = "EXEC_DOCKER_TEST_MARKER";

/// Carries out the task that this process was started for, if any.
pub(crate) fn task() -> Option<ExitCode> {
    let (host, marker) = (std::env::var(HOST).ok()?, std::env::var(MARKER).ok()?);
    let held = tokio::runtime::Runtime::new().context("a runtime").and_then(|runtime| {
        runtime.block_on(async {
            let config = DockerConfig { host: Some(host), ..DockerConfig::default() };
            let opts = ExecOpts::in_workspace(std::env::current_dir()?);
            DockerExec::new(config).await?.run(&Cmd::new("sleep").arg(marker), &opts).await?;
            Ok(())
        })
    });
    Some(if held.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Another process that holds a run; killed with this value.
struct Orchestrator(Child);

impl Orchestrator {
    fn start(engine: &PrivateEngine, dir: &std::path::Path, marker: &str) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.env(HOST, engine.host()).env(MARKER, marker).current_dir(dir).stdin(Stdio::null());
        Ok(Self(command.spawn().context("can't start this program again")?))
    }
}

impl Drop for Orchestrator {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// F1, F4, R11: with the orchestrator killed and the engine stopped, no process outside is left to end the
/// command.
pub(crate) async fn is_killed_while_the_engine_is_stopped() -> Result<()> {
    let (engine, dir) = (PrivateEngine::start().await?, workspace()?);
    let (_, marker) = sleeper();
    let orchestrator = Orchestrator::start(&engine, dir.path(), &marker)?;
    eventually_alive(&marker).await?;
    engine.freeze()?;
    drop(orchestrator);
    let dead = eventually_dead(&marker).await;
    engine.thaw()?;
    dead?;
    ensure_nothing_is_left(&engine).await?;
    engine.end().await
}
