//! The engine fails while a command runs.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use exec_core::{Cmd, Ended, ErrorKind, ExecOpts, Executor};

use crate::engine::PrivateEngine;
use crate::processes::{eventually_alive, eventually_dead};
use crate::support::{
    AT_MOST, ensure_nothing_is_left, executor, executor_without_fifo_channels, failure, sleeper, workspace,
};

/// F4, R10: the command dies with its engine, although no process outside is left to end it.
pub(crate) async fn the_engine_is_killed() -> Result<()> {
    let mut engine = PrivateEngine::start().await?;
    let (dir, executor) = (workspace()?, executor(&engine, 0).await?);
    let (cmd, marker) = sleeper();
    let run = executor.start(&cmd, &ExecOpts::in_workspace(dir.path())).await?;
    eventually_alive(&marker).await?;
    engine.kill().await?;
    let error = failure(run.wait()).await?;
    ensure!(error.kind() == ErrorKind::CellDied, "{error}");
    ensure!(error.to_string().contains("the engine is gone"), "{error}");
    eventually_dead(&marker).await?;
    engine.restart().await?;
    ensure!(executor.run(&Cmd::new("true"), &ExecOpts::in_workspace(dir.path())).await?.success(), "after");
    ensure_nothing_is_left(&engine).await?;
    drop(executor);
    engine.end().await
}

/// F4, R10: it is ended without the engine.
pub(crate) async fn the_engine_is_stopped_and_the_run_is_cancelled() -> Result<()> {
    let engine = PrivateEngine::start().await?;
    let (dir, executor) = (workspace()?, executor_without_fifo_channels(&engine).await?);
    let (cmd, marker) = sleeper();
    let opts = ExecOpts::in_workspace(dir.path()).with_grace(Duration::ZERO);
    let run = executor.start(&cmd, &opts).await?;
    eventually_alive(&marker).await?;
    engine.freeze()?;
    run.cancel();
    let error = failure(run.wait()).await;
    let dead = eventually_dead(&marker).await;
    engine.thaw()?;
    let error = error?;
    ensure!(error.kind() == ErrorKind::CellDied, "{error}");
    ensure!(error.to_string().contains("did not confirm"), "{error}");
    dead?;
    ensure_nothing_is_left(&engine).await?;
    drop(executor);
    engine.end().await
}

/// F4, R10: the cell enforces the deadline, whether or not the engine reports it.
pub(crate) async fn the_engine_is_stopped_and_the_deadline_passes() -> Result<()> {
    let engine = PrivateEngine::start().await?;
    let (dir, executor) = (workspace()?, executor_without_fifo_channels(&engine).await?);
    let (cmd, marker) = sleeper();
    let opts =
        ExecOpts::in_workspace(dir.path()).with_timeout(Duration::from_secs(3)).with_grace(Duration::ZERO);
    let run = executor.start(&cmd, &opts).await?;
    eventually_alive(&marker).await?;
    engine.freeze()?;
    let dead = eventually_dead(&marker).await;
    let error = failure(run.wait()).await;
    engine.thaw()?;
    dead?;
    ensure!(error?.kind() == ErrorKind::CellDied);
    ensure_nothing_is_left(&engine).await?;
    drop(executor);
    engine.end().await
}

/// F4, R10, R11: over the FIFO channel a run is stopped as usual, and its result comes back.
pub(crate) async fn the_engine_is_stopped_and_not_needed() -> Result<()> {
    let engine = PrivateEngine::start().await?;
    let (dir, executor) = (workspace()?, executor(&engine, 0).await?);
    let opts = ExecOpts::in_workspace(dir.path()).with_grace(Duration::ZERO);
    let (cmd, marker) = sleeper();
    let run = executor.start(&cmd, &opts).await?;
    let (late_cmd, late_marker) = sleeper();
    let late = executor.start(&late_cmd, &opts.with_timeout(Duration::from_secs(3))).await?;
    eventually_alive(&marker).await?;
    eventually_alive(&late_marker).await?;
    engine.freeze()?;
    run.cancel();
    let ends = tokio::time::timeout(AT_MOST, async { (run.wait().await, late.wait().await) }).await;
    let dead = (eventually_dead(&marker).await, eventually_dead(&late_marker).await);
    engine.thaw()?;
    dead.0?;
    dead.1?;
    let (cancelled, timed_out) = ends.context("it hangs")?;
    ensure!(cancelled?.ended == Ended::Cancelled, "the cancelled one");
    ensure!(timed_out?.ended == Ended::TimedOut, "the late one");
    ensure_nothing_is_left(&engine).await?;
    drop(executor);
    engine.end().await
}
