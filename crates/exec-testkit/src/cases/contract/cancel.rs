//! A cancelled run ends: politely, then by force. Cancelling too early, too late or too often does no harm.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, ensure};
use exec_core::{Ended, Signal, Status};

use crate::case::{Case, case};
use crate::{Ctx, check, processes, stream};

pub(super) const CASES: &[Case] = &[
    case!(the_command_may_clean_up, "R5"),
    case!(a_command_that_ignores_the_request_is_killed, "R10 A15"),
    case!(kill_sends_no_request, "R5"),
    case!(kill_cuts_the_grace_short, "R5"),
    case!(cancel_before_anything_was_read, "F11"),
    case!(cancel_after_the_end, "F11"),
    case!(a_hundred_cancels_at_once, "F11"),
    case!(cancel_without_a_reader, "F9"),
];

/// Longer than any case may take: a case that waits for it runs into the time limit.
const FOR_EVER: Duration = Duration::from_secs(3600);

/// R5: SIGTERM comes first, and the command's own exit code is kept.
async fn the_command_may_clean_up(ctx: Ctx) -> Result<()> {
    let script = "trap 'echo cleaned > cleaned; exit 9' TERM; echo ready; while :; do sleep 0.1; done";
    let opts = ctx.opts().with_grace(FOR_EVER);
    let run = ctx.start(&exec_core::Cmd::shell(script), &opts).await?;
    stream::until(&run, "ready\n").await?;
    run.cancel();
    stream::rest(&run).await;
    let outcome = run.wait().await?;
    ensure!((outcome.ended, outcome.status) == (Ended::Cancelled, Status::Code(9)), "{outcome:?}");
    ensure!(ctx.workspace().join("cleaned").exists(), "the clean-up did not run");
    Ok(())
}

/// R10, A15: after the grace it is killed, and the result says so.
async fn a_command_that_ignores_the_request_is_killed(ctx: Ctx) -> Result<()> {
    let opts = ctx.opts().with_grace(Duration::from_millis(300));
    let run = ctx.start(&ctx.probe(&["ignore-signals", ctx.marker()]), &opts).await?;
    stream::until(&run, "ready\n").await?;
    processes::eventually_alive(ctx.marker()).await?;
    run.cancel();
    stream::rest(&run).await;
    let outcome = run.wait().await?;
    check::ended(&outcome, Ended::Cancelled)?;
    check::died_of(&outcome, Signal::KILL)?;
    processes::ensure_none(ctx.marker())
}

/// R5: a kill is immediate, whatever the grace.
async fn kill_sends_no_request(ctx: Ctx) -> Result<()> {
    let run = ctx.start(&ctx.probe(&["wait-signal"]), &ctx.opts().with_grace(FOR_EVER)).await?;
    stream::until(&run, "ready\n").await?;
    run.control().kill();
    let (stdout, _) = stream::rest(&run).await;
    ensure!(stdout.is_empty(), "it was asked: {:?}", String::from_utf8_lossy(&stdout));
    let outcome = run.wait().await?;
    check::ended(&outcome, Ended::Cancelled)?;
    check::died_of(&outcome, Signal::KILL)
}

/// R5: a caller may cut the grace period short.
async fn kill_cuts_the_grace_short(ctx: Ctx) -> Result<()> {
    let opts = ctx.opts().with_grace(FOR_EVER);
    let run = ctx.start(&ctx.probe(&["ignore-signals", ctx.marker()]), &opts).await?;
    stream::until(&run, "ready\n").await?;
    run.cancel();
    run.control().kill();
    stream::rest(&run).await;
    check::ended(&run.wait().await?, Ended::Cancelled)
}

/// F11: right after the start.
async fn cancel_before_anything_was_read(ctx: Ctx) -> Result<()> {
    let run = ctx.start(&ctx.probe(&["pause", ctx.marker()]), &ctx.opts()).await?;
    run.cancel();
    stream::rest(&run).await;
    check::ended(&run.wait().await?, Ended::Cancelled)?;
    processes::ensure_none(ctx.marker())
}

/// F11: a run that ended by itself was not cancelled.
async fn cancel_after_the_end(ctx: Ctx) -> Result<()> {
    let run = ctx.start(&ctx.probe(&["exit", "3"]), &ctx.opts()).await?;
    run.wait().await?;
    run.cancel();
    run.control().kill();
    run.signal(Signal::TERM);
    let outcome = run.wait().await?;
    ensure!((outcome.ended, outcome.status) == (Ended::Exited, Status::Code(3)), "{outcome:?}");
    Ok(())
}

/// F11: a hundred requests have the effect of one.
async fn a_hundred_cancels_at_once(ctx: Ctx) -> Result<()> {
    let run = Arc::new(ctx.start(&ctx.probe(&["pause", ctx.marker()]), &ctx.opts()).await?);
    stream::until(&run, "ready\n").await?;
    let cancels: Vec<_> = (0..100)
        .map(|_| {
            let control = run.control();
            tokio::spawn(async move { control.cancel() })
        })
        .collect();
    for cancel in cancels {
        cancel.await?;
    }
    stream::rest(&run).await;
    check::ended(&run.wait().await?, Ended::Cancelled)?;
    processes::ensure_none(ctx.marker())
}

/// F9: a run that is stuck in its own output can be stopped.
async fn cancel_without_a_reader(ctx: Ctx) -> Result<()> {
    let opts = ctx.opts().with_grace(Duration::from_millis(300));
    let run = ctx.start(&ctx.probe(&["flood-forever", "stdout", ctx.marker()]), &opts).await?;
    processes::eventually_alive(ctx.marker()).await?;
    run.cancel();
    check::ended(&run.wait().await?, Ended::Cancelled)?;
    processes::ensure_none(ctx.marker())
}
