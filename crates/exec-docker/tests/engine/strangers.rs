//! Unrelated containers next to ours, and outside interference with ours.

use std::collections::HashMap;

use anyhow::{Context, Result, ensure};
use bollard::models::{ContainerCreateBody, HostConfig};
use bollard::query_parameters::{CreateContainerOptionsBuilder, RemoveContainerOptionsBuilder};
use exec_core::{Cmd, ErrorKind, ExecOpts, Execution, Executor};
use exec_docker::DockerExec;

use crate::support::{engine, ensure_nothing_is_left, executor, the_cell_on, workspace};

/// A37: a name and labels like ours do not make a container ours.
pub(crate) async fn look_alikes_are_untouched() -> Result<()> {
    let engine = engine()?;
    let name = format!("agentctl-{}-0-look-alike", std::process::id());
    let body = ContainerCreateBody {
        image: Some(exec_testkit::odd_image("docker")?.to_owned()),
        entrypoint: Some(vec!["/bin/sleep".into(), "600".into()]),
        user: Some("0".into()),
        working_dir: Some("/".into()),
        labels: Some(HashMap::from([("com.example.agentctl.owner".into(), "x".into())])),
        host_config: Some(HostConfig { network_mode: Some("none".into()), ..HostConfig::default() }),
        ..ContainerCreateBody::default()
    };
    engine.create_container(Some(CreateContainerOptionsBuilder::default().name(&name).build()), body).await?;
    engine.start_container(&name, None).await?;
    let dir = workspace(1000)?;
    {
        let executor = executor(2).await?;
        for _ in 0..3 {
            executor.run(&Cmd::new("true"), &ExecOpts::in_workspace(dir.path())).await?;
        }
    }
    ensure_nothing_is_left(dir.path()).await?;
    let stranger = engine.inspect_container(&name, None).await;
    let options = RemoveContainerOptionsBuilder::default().force(true).build();
    engine.remove_container(&name, Some(options)).await?;
    let running = stranger?.state.and_then(|state| state.running);
    ensure!(running == Some(true), "the stranger is {running:?}");
    Ok(())
}

async fn sleeper(executor: &DockerExec, dir: &tempfile::TempDir) -> Result<(Execution, String)> {
    let run = executor.start(&Cmd::new("sleep").arg("600"), &ExecOpts::in_workspace(dir.path())).await?;
    let id = the_cell_on(dir.path()).await?.id.context("no id")?;
    Ok((run, id))
}

/// F6
pub(crate) async fn a_removed_cell_is_reported_as_removed() -> Result<()> {
    let (executor, dir) = (executor(0).await?, workspace(1000)?);
    let (run, id) = sleeper(&executor, &dir).await?;
    let options = RemoveContainerOptionsBuilder::default().force(true).build();
    engine()?.remove_container(&id, Some(options)).await?;
    let error = run.wait().await.err().context("it ended")?;
    ensure!(error.kind() == ErrorKind::CellDied && error.to_string().contains("from outside"), "{error}");
    ensure_nothing_is_left(dir.path()).await
}

/// F6
pub(crate) async fn a_paused_cell_is_reported_as_paused() -> Result<()> {
    let (executor, dir) = (executor(0).await?, workspace(1000)?);
    let (run, id) = sleeper(&executor, &dir).await?;
    engine()?.pause_container(&id).await?;
    let error = run.wait().await.err().context("it ended")?;
    ensure!(error.kind() == ErrorKind::CellDied && error.to_string().contains("paused"), "{error}");
    ensure_nothing_is_left(dir.path()).await
}
