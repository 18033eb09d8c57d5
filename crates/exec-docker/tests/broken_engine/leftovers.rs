//! Leftovers of dead processes on an engine.

use std::collections::HashMap;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use bollard::Docker;
use bollard::models::{ContainerCreateBody, HostConfig};
use bollard::query_parameters::CreateContainerOptionsBuilder;
use exec_core::{Cmd, ExecOpts, Executor};

use crate::engine::PrivateEngine;
use crate::support::{executor, ours, workspace};

/// The labels of a container that this process made.
async fn own_labels(engine: &PrivateEngine) -> Result<(HashMap<String, String>, String)> {
    let (dir, executor) = (workspace()?, executor(engine, 0).await?);
    let run = executor.start(&Cmd::new("sleep").arg("600"), &ExecOpts::in_workspace(dir.path())).await?;
    let found = engine.client()?.list_containers(None).await?;
    let cell = found.into_iter().next().context("no container")?;
    run.cancel();
    run.wait().await?;
    Ok((cell.labels.context("no labels")?, cell.image.context("no image")?))
}

pub(crate) async fn create(
    client: &Docker,
    image: &str,
    name: &str,
    labels: &HashMap<String, String>,
) -> Result<()> {
    let body = ContainerCreateBody {
        image: Some(image.to_owned()),
        entrypoint: Some(vec!["/none".into()]),
        labels: Some(labels.clone()),
        host_config: Some(HostConfig { network_mode: Some("none".into()), ..HostConfig::default() }),
        ..ContainerCreateBody::default()
    };
    client.create_container(Some(CreateContainerOptionsBuilder::default().name(name).build()), body).await?;
    Ok(())
}

/// A number that no process has any more.
fn dead() -> Result<u32> {
    let mut child = Command::new("true").spawn()?;
    child.wait()?;
    Ok(child.id())
}

/// R15, A37, F12: only containers made by a process of this machine that is dead now.
pub(crate) async fn only_those_of_dead_owners_are_removed() -> Result<()> {
    let engine = PrivateEngine::start().await?;
    let (own, image) = own_labels(&engine).await?;
    let client = engine.client()?;
    let (pid, start, boot) =
        ("dev.agentctl.owner.pid", "dev.agentctl.owner.start", "dev.agentctl.owner.boot");
    let (cell, dead) = ("dev.agentctl.cell", dead()?.to_string());
    let with = |name: &str, changes: &[(&str, &str)]| {
        let mut labels = own.clone();
        labels.insert(cell.to_owned(), name.to_owned());
        labels.extend(changes.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())));
        labels
    };
    let go = [("dead", with("dead", &[(pid, &dead)])), ("reused", with("reused", &[(start, "1")]))];
    let stay = [
        ("alive", with("alive", &[])),
        ("elsewhere", with("elsewhere", &[(pid, &dead), (boot, "another")])),
        ("inherited", with("inherited", &[(pid, &dead), (cell, "another")])),
        ("stranger", HashMap::from([("dev.agentctl.owner".to_owned(), "x".to_owned())])),
    ];
    for (name, labels) in go.iter().chain(&stay) {
        create(&client, &image, name, labels).await?;
    }
    let next = executor(&engine, 0).await?;
    let names = |list: &[(&str, HashMap<String, String>)], left: &[String]| {
        list.iter().filter(|(name, _)| left.iter().any(|one| one.contains(&format!("/{name}\"")))).count()
    };
    let end = std::time::Instant::now() + crate::support::AT_MOST;
    while names(&go, &ours(&engine).await?) > 0 && std::time::Instant::now() < end {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let left = ours(&engine).await?;
    ensure!(names(&go, &left) == 0 && names(&stay, &left) == stay.len(), "{left:?}");
    drop(next);
    engine.end().await
}
