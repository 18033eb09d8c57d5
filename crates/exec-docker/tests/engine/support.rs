//! An executor, its engine, and leftovers on that engine.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use bollard::Docker;
use bollard::models::ContainerInspectResponse;
use bollard::query_parameters::ListContainersOptionsBuilder;
use exec_docker::{ContainerConfig, DockerConfig, DockerExec};
use tempfile::TempDir;

/// Whether an engine is available for the tests.
pub(crate) fn available() -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let found = runtime.block_on(DockerExec::new(DockerConfig::default()));
    found.map(drop).map_err(|error| error.to_string())
}

pub(crate) async fn executor(warm_cells: usize) -> Result<DockerExec> {
    let containers = ContainerConfig { warm_cells, ..ContainerConfig::default() };
    Ok(DockerExec::new(DockerConfig { containers, ..DockerConfig::default() }).await?)
}

/// A workspace of this owner.
pub(crate) fn workspace(owner: u32) -> Result<TempDir> {
    let dir = tempfile::tempdir()?;
    exec_testkit::give_away(dir.path(), owner, owner)?;
    Ok(dir)
}

pub(crate) fn engine() -> Result<Docker> {
    Ok(Docker::connect_with_local_defaults()?)
}

/// Names of the containers that have this directory mounted: those of one test only.
pub(crate) async fn cells_on(workspace: &Path) -> Result<Vec<String>> {
    let workspace = workspace.canonicalize()?;
    let filters = HashMap::from([("volume".to_owned(), vec![workspace.display().to_string()])]);
    let options = ListContainersOptionsBuilder::default().all(true).filters(&filters).build();
    let found = engine()?.list_containers(Some(options)).await?;
    Ok(found.into_iter().filter_map(|container| container.names?.into_iter().next()).collect())
}

/// Returns when the engine has made a container that works on this directory.
pub(crate) async fn appeared(workspace: &Path) -> Result<()> {
    let end = Instant::now() + Duration::from_secs(30);
    while cells_on(workspace).await?.is_empty() {
        ensure!(Instant::now() < end, "no cell appeared");
    }
    Ok(())
}

/// The one container that works on this directory.
pub(crate) async fn the_cell_on(workspace: &Path) -> Result<ContainerInspectResponse> {
    let names = cells_on(workspace).await?;
    let [name] = names.as_slice() else { bail!("one cell was expected: {names:?}") };
    Ok(engine()?.inspect_container(name.trim_start_matches('/'), None).await?)
}

/// No container works on this directory, now or soon.
pub(crate) async fn ensure_nothing_is_left(workspace: &Path) -> Result<()> {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        let left = cells_on(workspace).await?;
        if left.is_empty() {
            return Ok(());
        }
        if Instant::now() > end {
            bail!("left on the engine: {left:?}");
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
