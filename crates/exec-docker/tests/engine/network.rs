//! A server in an unrelated container, on the engine's bridge.

use anyhow::{Context, Result, ensure};
use exec_core::{Cmd, ExecOpts, Executor, Network};
use testcontainers::core::{ImageExt, WaitFor};
use testcontainers::runners::AsyncRunner;
use testcontainers::{ContainerAsync, GenericImage};

use crate::support::{executor, workspace};

const PORT: &str = "8080";

/// Answers every connection with a word.
const SERVER: &str = "echo ready; while true; do echo hello | nc -l -p 8080; done";

async fn server() -> Result<ContainerAsync<GenericImage>> {
    let image = exec_testkit::odd_image("docker")?;
    let (name, tag) = image.split_once(':').context("an image with a tag")?;
    let server = GenericImage::new(name, tag)
        .with_entrypoint("/bin/sh")
        .with_wait_for(WaitFor::message_on_stdout("ready"))
        .with_network("bridge")
        .with_user("0")
        .with_working_dir("/")
        .with_cmd(["-c", SERVER]);
    Ok(server.start().await?)
}

/// R30, A20
pub(crate) async fn a_bridge_reaches_a_server_and_none_does_not() -> Result<()> {
    let server = server().await?;
    let address = server.get_bridge_ip_address().await?.to_string();
    let dir = workspace(1000)?;
    let executor = executor(0).await?;
    let mut opts = ExecOpts::in_workspace(dir.path());
    opts.image = Some(exec_testkit::odd_image("docker")?.to_owned());
    let ask = Cmd::new("nc").args(["-w", "5", &address, PORT]);
    let bridged = executor.run(&ask, &opts.clone().with_network(Network::Bridge)).await?;
    ensure!(bridged.stdout.text() == "hello\n", "{} {}", bridged.stdout.text(), bridged.stderr.text());
    let alone = executor.run(&ask, &opts.with_network(Network::None)).await?;
    ensure!(!alone.success() && alone.stdout.text().is_empty(), "{}", alone.stdout.text());
    ensure!(alone.stderr.text().contains("unreachable"), "{}", alone.stderr.text());
    Ok(())
}
