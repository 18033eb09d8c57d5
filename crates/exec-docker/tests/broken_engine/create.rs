//! The engine fails while containers are being made.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use exec_core::{Cmd, ErrorKind, ExecOpts, Executor};

use crate::engine::PrivateEngine;
use crate::support::{AT_MOST, ensure_nothing_is_left, executor, failure, ours, workspace};

const AT_ONCE: usize = 6;

/// F4, R15: whatever state the containers were in, they are gone after the next start.
pub(crate) async fn the_engine_is_killed() -> Result<()> {
    let mut engine = PrivateEngine::start().await?;
    let (dir, executor) = (workspace()?, Arc::new(executor(&engine, 0).await?));
    let opts = ExecOpts::in_workspace(dir.path());
    let runs: Vec<_> = (0..AT_ONCE)
        .map(|_| {
            let (executor, opts) = (Arc::clone(&executor), opts.clone());
            tokio::spawn(async move { failure(executor.run(&Cmd::new("sleep").arg("600"), &opts)).await })
        })
        .collect();
    let end = Instant::now() + AT_MOST;
    while ours(&engine).await?.is_empty() && Instant::now() < end {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    engine.kill().await?;
    for run in runs {
        run.await??;
    }
    engine.restart().await?;
    ensure_nothing_is_left(&engine).await?;
    drop(executor);
    engine.end().await
}

/// F4, R15: containers that the engine finishes when it continues are removed.
pub(crate) async fn the_engine_is_stopped() -> Result<()> {
    let engine = PrivateEngine::start().await?;
    let (dir, executor) = (workspace()?, executor(&engine, 0).await?);
    let opts = ExecOpts::in_workspace(dir.path());
    ensure!(executor.run(&Cmd::new("true"), &opts).await?.success(), "before");
    engine.freeze()?;
    let error = failure(executor.run(&Cmd::new("true"), &opts)).await;
    engine.thaw()?;
    let error = error?;
    ensure!(error.kind() == ErrorKind::Engine, "{error}");
    ensure!(error.to_string().contains("did not answer in time"), "{error}");
    ensure!(error.remedy().is_some(), "{error}");
    ensure!(executor.run(&Cmd::new("true"), &opts).await?.success(), "after");
    ensure_nothing_is_left(&engine).await?;
    drop(executor);
    engine.end().await
}
