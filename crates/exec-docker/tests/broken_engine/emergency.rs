//! Stopping from outside, on a private engine: while it hangs, and next to containers of others.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

use agent_exec::control::{Audit, Controller, StateDir, Target, Watch};
use anyhow::{Context, Result, ensure};
use exec_core::{ErrorKind, ExecOpts, Executor, Operation, Step};
use exec_docker::{ContainerConfig, DockerConfig, DockerExec};

use crate::engine::PrivateEngine;
use crate::leftovers::create;
use crate::processes::{eventually_alive, with_argument};
use crate::support::{ensure_nothing_is_left, sleeper, workspace};

async fn watched(engine: &PrivateEngine, state: &Path) -> Result<(DockerExec, Controller)> {
    let watch = || Watch::new(StateDir::at(state), Audit::Off);
    let containers = ContainerConfig { warm_cells: 0, watch: watch(), ..ContainerConfig::default() };
    let executor = DockerExec::new(DockerConfig { host: Some(engine.host()), containers }).await?;
    Ok((executor, Controller::of(watch())))
}

/// R14, F4: the engine hangs, and the processes end all the same.
pub(crate) async fn while_the_engine_is_stopped() -> Result<()> {
    let engine = PrivateEngine::start().await?;
    let (dir, state) = (workspace()?, tempfile::tempdir()?);
    let (executor, controller) = watched(&engine, state.path()).await?;
    let opts = ExecOpts::in_workspace(dir.path());
    let (cmd, marker) = sleeper();
    let run = executor.start(&cmd, &opts).await?;
    eventually_alive(&marker).await?;
    engine.freeze()?;
    let report = controller.emergency_stop().await;
    let alive = with_argument(&marker);
    let refused = executor.start(&cmd, &opts).await;
    engine.thaw()?;
    let report = report?;
    ensure!(alive.is_empty(), "{alive:?}");
    ensure!(report.is_clean() && !report.left.is_empty(), "the container is reported: {report:?}");
    let refused = refused.err().context("it has started")?;
    ensure!(refused.kind() == ErrorKind::Stopped, "{refused}");
    ensure!(
        refused.remedy().is_some_and(|remedy| remedy.steps().contains(&Step::Operation(Operation::Resume))),
        "{refused}"
    );
    ensure!(run.wait().await.is_err(), "it was ended from outside");
    ensure_nothing_is_left(&engine).await?;
    ensure!(controller.resume()?);
    ensure!(executor.run(&exec_core::Cmd::new("true"), &opts).await?.success(), "afterwards");
    drop(executor);
    engine.end().await
}

/// R13, A37: containers that only look like ours stay, and so do those recorded in another state directory.
pub(crate) async fn strangers_stay() -> Result<()> {
    let engine = PrivateEngine::start().await?;
    let (dir, state, elsewhere) = (workspace()?, tempfile::tempdir()?, tempfile::tempdir()?);
    let (executor, controller) = watched(&engine, state.path()).await?;
    let (other, _) = watched(&engine, elsewhere.path()).await?;
    let opts = ExecOpts::in_workspace(dir.path());
    let ((cmd, marker), (other_cmd, other_marker)) = (sleeper(), sleeper());
    let run = executor.start(&cmd, &opts).await?;
    let other_run = other.start(&other_cmd, &opts).await?;
    eventually_alive(&marker).await?;
    eventually_alive(&other_marker).await?;
    let client = engine.client()?;
    let image = client.list_containers(None).await?.remove(0).image.context("no image")?;
    let label = |key: &str, value: &str| HashMap::from([(key.to_owned(), value.to_owned())]);
    let path = state.path().to_string_lossy();
    let strangers = [
        ("agentctl-1-0-0123456789ab", HashMap::new()),
        ("agentctl-4711-0-abc", label("dev.agentctl.owner", "x")),
        ("agentctl-x", label("dev.agentctl.state", &path)),
        ("compose", label("com.docker.compose.project", "agentctl")),
    ];
    for (name, labels) in &strangers {
        create(&client, &image, name, labels).await?;
    }
    let report = controller.kill(&Target::All).await?;
    ensure!(report.is_clean() && report.left.is_empty() && report.ended.len() == 1, "{report:?}");
    let report = controller.emergency_stop().await?;
    ensure!(report.is_clean(), "{report:?}");
    ensure!(with_argument(&marker).is_empty(), "ours is gone");
    ensure!(!with_argument(&other_marker).is_empty(), "the run of another state directory continues");
    for (name, _) in &strangers {
        client.inspect_container(name, None).await.with_context(|| format!("{name} is gone"))?;
    }
    ensure!(run.wait().await.is_err(), "it was ended from outside");
    other_run.cancel();
    other_run.wait().await?;
    drop((executor, other));
    engine.end().await
}

/// R14: the script ends it without agentctl, through the engine's own program.
pub(crate) async fn the_script_needs_no_agentctl() -> Result<()> {
    let engine = PrivateEngine::start().await?;
    let (dir, state) = (workspace()?, tempfile::tempdir()?);
    let (executor, controller) = watched(&engine, state.path()).await?;
    let opts = ExecOpts::in_workspace(dir.path());
    let (cmd, marker) = sleeper();
    let run = executor.start(&cmd, &opts).await?;
    eventually_alive(&marker).await?;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/emergency-stop.sh");
    let mut command = Command::new(script);
    command
        .env("AGENTCTL_BIN", "/nonexistent")
        .env("AGENTCTL_STATE_DIR", state.path())
        .env("AGENTCTL_ENGINES", "docker")
        .env("DOCKER_HOST", engine.host());
    let output = tokio::task::spawn_blocking(move || command.output()).await??;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    ensure!(with_argument(&marker).is_empty(), "it is gone");
    ensure!(controller.latched()?.is_some(), "and nothing new starts");
    ensure!(run.wait().await.is_err(), "it was ended from outside");
    drop(executor);
    engine.end().await
}
