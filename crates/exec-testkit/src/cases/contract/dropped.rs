//! Once the `Execution` is dropped, no process of the command is alive.

use anyhow::{Result, ensure};
use exec_core::{Cmd, Execution};

use crate::case::{Case, case};
use crate::{Ctx, check, processes, stream};

pub(super) const CASES: &[Case] = &[
    case!(dropping_kills, "R5 F3"),
    case!(aborting_the_task_kills, "R5 F3"),
    case!(a_panic_of_the_caller_kills, "R5 F3"),
    case!(dropping_the_future_of_a_run_kills, "R5 F3"),
    case!(dropping_a_stuck_run_kills, "R5 F3 F9"),
    case!(a_control_keeps_nothing_alive, "R5"),
    case!(dropping_a_control_does_no_harm, "R5"),
];

async fn start_pausing(ctx: &Ctx) -> Result<Execution> {
    let run = ctx.start(&ctx.probe(&["pause", ctx.marker()]), &ctx.opts()).await?;
    stream::until(&run, "ready\n").await?;
    processes::eventually_alive(ctx.marker()).await?;
    Ok(run)
}

/// R5, F3: without any other call before.
async fn dropping_kills(ctx: Ctx) -> Result<()> {
    drop(start_pausing(&ctx).await?);
    processes::eventually_dead(ctx.marker()).await
}

/// R5, F3: the task that holds it is aborted.
async fn aborting_the_task_kills(ctx: Ctx) -> Result<()> {
    let run = start_pausing(&ctx).await?;
    let task = tokio::spawn(async move { run.wait().await });
    task.abort();
    processes::eventually_dead(ctx.marker()).await
}

/// R5, F3: the task that holds it panics.
async fn a_panic_of_the_caller_kills(ctx: Ctx) -> Result<()> {
    let run = start_pausing(&ctx).await?;
    let task = tokio::spawn(async move {
        let _held = run;
        std::panic::resume_unwind(Box::new("on purpose"));
    });
    ensure!(task.await.is_err_and(|error| error.is_panic()), "the task did not panic");
    processes::eventually_dead(ctx.marker()).await
}

/// R5, F3: `run` has no handle to drop, only a future.
async fn dropping_the_future_of_a_run_kills(ctx: Ctx) -> Result<()> {
    let inner = ctx.clone();
    let task = tokio::spawn(async move { inner.inside(&["pause", inner.marker()]).await });
    processes::eventually_alive(ctx.marker()).await?;
    task.abort();
    processes::eventually_dead(ctx.marker()).await
}

/// R5, F3, F9: even while its output is stuck without a reader.
async fn dropping_a_stuck_run_kills(ctx: Ctx) -> Result<()> {
    let run = ctx.start(&ctx.probe(&["flood-forever", "stdout", ctx.marker()]), &ctx.opts()).await?;
    processes::eventually_alive(ctx.marker()).await?;
    drop(run);
    processes::eventually_dead(ctx.marker()).await
}

/// R5: a control can stop a run, but does not keep it alive.
async fn a_control_keeps_nothing_alive(ctx: Ctx) -> Result<()> {
    let run = start_pausing(&ctx).await?;
    let control = run.control();
    drop(run);
    processes::eventually_dead(ctx.marker()).await?;
    control.cancel();
    control.kill();
    Ok(())
}

/// R5: dropping a control ends nothing.
async fn dropping_a_control_does_no_harm(ctx: Ctx) -> Result<()> {
    let run = ctx.start(&Cmd::shell("echo ready; echo done; exit 6"), &ctx.opts()).await?;
    drop((run.control(), run.stdin()));
    let result = run.collect(&ctx.opts().capture).await?;
    check::exited(&result, 6)
}
