//! Executors with short time-outs, commands that can be found, and leftovers on an engine.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use bollard::query_parameters::ListContainersOptionsBuilder;
use exec_core::{Cmd, Error, ErrorKind};
use exec_docker::{ContainerConfig, DockerConfig, DockerExec, InitPlacement, Patience};
use tempfile::TempDir;

use crate::engine::PrivateEngine;

/// Short, so that a stopped engine costs little time; long enough for a busy one.
const SHORT: Patience = Patience {
    greet: Duration::from_secs(5),
    ask: Duration::from_secs(2),
    make: Duration::from_secs(6),
    remove: Duration::from_secs(4),
};

/// Nothing takes this long unless it hangs.
pub(crate) const AT_MOST: Duration = Duration::from_secs(45);

pub(crate) async fn executor(engine: &PrivateEngine, warm_cells: usize) -> Result<DockerExec> {
    executor_with(engine, warm_cells, InitPlacement::default()).await
}

/// An executor whose cells have no FIFO channel past the engine.
pub(crate) async fn executor_without_fifo_channels(engine: &PrivateEngine) -> Result<DockerExec> {
    executor_with(engine, 0, InitPlacement::Volume).await
}

pub(crate) async fn executor_with(
    engine: &PrivateEngine,
    warm_cells: usize,
    init: InitPlacement,
) -> Result<DockerExec> {
    let containers = ContainerConfig { warm_cells, init, patience: SHORT, ..ContainerConfig::default() };
    Ok(DockerExec::new(DockerConfig { host: Some(engine.host()), containers }).await?)
}

pub(crate) fn workspace() -> Result<TempDir> {
    let dir = tempfile::tempdir()?;
    exec_testkit::give_away(dir.path(), 1000, 1000)?;
    Ok(dir)
}

/// A long-running command, and an argument by which it is found.
pub(crate) fn sleeper() -> (Cmd, String) {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    // A number of seconds that no other process sleeps for.
    let marker = format!("9{:07}.{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    (Cmd::new("sleep").arg(&marker), marker)
}

/// The error of an operation that must fail, and in bounded time.
pub(crate) async fn failure<T>(call: impl Future<Output = Result<T, Error>>) -> Result<Error> {
    let ended = tokio::time::timeout(AT_MOST, call).await.context("it hangs")?;
    let error = ended.err().context("it succeeded")?;
    let kinds = [ErrorKind::Engine, ErrorKind::CellDied];
    ensure!(kinds.contains(&error.kind()), "{:?}: {error}", error.kind());
    ensure!(error.backend() == Some("docker"), "{error}");
    Ok(error)
}

/// Names and states of our containers on an engine.
pub(crate) async fn ours(engine: &PrivateEngine) -> Result<Vec<String>> {
    let filters = HashMap::from([("label".to_owned(), vec!["dev.agentctl.owner".to_owned()])]);
    let options = ListContainersOptionsBuilder::default().all(true).filters(&filters).build();
    let found = engine.client()?.list_containers(Some(options)).await?;
    Ok(found.iter().map(|one| format!("{:?} {:?}", one.names, one.state)).collect())
}

pub(crate) async fn ensure_nothing_is_left(engine: &PrivateEngine) -> Result<()> {
    let end = Instant::now() + AT_MOST;
    loop {
        let left = ours(engine).await?;
        if left.is_empty() {
            return Ok(());
        }
        if Instant::now() > end {
            bail!("left on the engine: {left:?}");
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
