//! After a restart of the engine.

use anyhow::{Result, ensure};
use exec_core::{Cmd, ExecOpts, Executor, SessionName};

use crate::engine::PrivateEngine;
use crate::support::{ensure_nothing_is_left, executor, workspace};

/// F4: earlier warm cells and sessions are recognised as dead and replaced.
pub(crate) async fn the_same_executor_continues() -> Result<()> {
    let mut engine = PrivateEngine::start().await?;
    let (dir, executor) = (workspace()?, executor(&engine, 2).await?);
    let opts = ExecOpts::in_workspace(dir.path());
    let in_session = opts.clone().in_session(SessionName::new("before"));
    executor.warm(&opts).await?;
    ensure!(executor.run(&Cmd::new("true"), &in_session).await?.success(), "before");
    engine.kill().await?;
    engine.restart().await?;
    for opts in [&opts, &in_session, &opts] {
        let result = executor.run(&Cmd::shell("echo here"), opts).await?;
        ensure!(result.stdout.text() == "here\n", "{:?}", result.outcome);
    }
    executor.end_session(&SessionName::new("before")).await?;
    drop(executor);
    ensure_nothing_is_left(&engine).await?;
    engine.end().await
}
