//! A time-out or an idle time-out ends the run, even without a reader.

use std::time::Duration;

use anyhow::{Result, ensure};
use exec_core::{Cmd, Ended, LimitName, Signal};

use crate::case::{Case, case};
use crate::{Ctx, check, processes, stream};

pub(super) const CASES: &[Case] = &[
    case!(a_run_that_takes_too_long_is_ended, "R40 R42"),
    case!(the_time_out_sends_a_request_first, "R40"),
    case!(a_command_that_ignores_the_time_out_is_killed, "R40 A15"),
    case!(the_time_out_needs_no_reader, "F9"),
    case!(silence_is_ended, "R40 R42"),
    case!(the_idle_time_out_needs_no_reader, "F9"),
    case!(output_holds_off_the_idle_time_out, "R40"),
    case!(a_run_in_time_is_left_alone, "R40"),
];

const SHORT: Duration = Duration::from_millis(300);
const FOR_EVER: Duration = Duration::from_secs(3600);

/// R40, R42: it timed out, the limit is named, and nothing is alive.
async fn a_run_that_takes_too_long_is_ended(ctx: Ctx) -> Result<()> {
    let opts = ctx.opts().with_timeout(SHORT).with_grace(SHORT);
    let result = ctx.run(&ctx.probe(&["pause", ctx.marker()]), &opts).await?;
    check::ended(&result.outcome, Ended::TimedOut)?;
    check::names_limit(&result.outcome, LimitName::WallTime)?;
    processes::ensure_none(ctx.marker())
}

/// R40: the command gets SIGTERM and may still print.
async fn the_time_out_sends_a_request_first(ctx: Ctx) -> Result<()> {
    let opts = ctx.opts().with_timeout(Duration::from_secs(1)).with_grace(FOR_EVER);
    let result = ctx.run(&ctx.probe(&["wait-signal"]), &opts).await?;
    check::ended(&result.outcome, Ended::TimedOut)?;
    ensure!(result.stdout.text().contains("got SIGTERM"), "{}", check::describe(&result));
    ensure!(result.exit_code() == Some(7), "{}", check::describe(&result));
    Ok(())
}

/// R40, A15: a command that ignores the request is killed.
async fn a_command_that_ignores_the_time_out_is_killed(ctx: Ctx) -> Result<()> {
    let opts = ctx.opts().with_timeout(Duration::from_secs(1)).with_grace(SHORT);
    let result = ctx.run(&ctx.probe(&["ignore-signals", ctx.marker()]), &opts).await?;
    check::ended(&result.outcome, Ended::TimedOut)?;
    check::died_of(&result.outcome, Signal::KILL)?;
    processes::ensure_none(ctx.marker())
}

/// F9: even while the command is stuck for lack of a reader.
async fn the_time_out_needs_no_reader(ctx: Ctx) -> Result<()> {
    let opts = ctx.opts().with_timeout(Duration::from_secs(1)).with_grace(SHORT);
    let run = ctx.start(&ctx.probe(&["flood-forever", "stdout", ctx.marker()]), &opts).await?;
    check::ended(&run.wait().await?, Ended::TimedOut)?;
    processes::ensure_none(ctx.marker())
}

/// R40, R42: a command that is silent for too long is ended, and that limit is named.
async fn silence_is_ended(ctx: Ctx) -> Result<()> {
    let opts = ctx.opts().with_idle_timeout(SHORT).with_grace(SHORT);
    let result = ctx.run(&ctx.probe(&["pause", ctx.marker()]), &opts).await?;
    check::ended(&result.outcome, Ended::TimedOut)?;
    check::names_limit(&result.outcome, LimitName::IdleTime)?;
    processes::ensure_none(ctx.marker())
}

/// F9: even without a reader.
async fn the_idle_time_out_needs_no_reader(ctx: Ctx) -> Result<()> {
    let opts = ctx.opts().with_idle_timeout(SHORT).with_grace(SHORT);
    let run = ctx.start(&ctx.probe(&["pause", ctx.marker()]), &opts).await?;
    check::ended(&run.wait().await?, Ended::TimedOut)?;
    processes::ensure_none(ctx.marker())
}

/// R40: output keeps a run alive for several times the idle time-out.
async fn output_holds_off_the_idle_time_out(ctx: Ctx) -> Result<()> {
    let opts = ctx.opts().with_idle_timeout(Duration::from_secs(3));
    let run = ctx.start(&ctx.probe(&["tick", "30", "200"]), &opts).await?;
    stream::until(&run, "tick 29").await?;
    stream::rest(&run).await;
    check::ended(&run.wait().await?, Ended::Exited)
}

/// R40: no limit is named when none was reached.
async fn a_run_in_time_is_left_alone(ctx: Ctx) -> Result<()> {
    let opts = ctx.opts().with_timeout(FOR_EVER).with_idle_timeout(FOR_EVER);
    let result = ctx.run(&Cmd::shell("echo done"), &opts).await?;
    check::printed(&result, "done")?;
    ensure!(result.outcome.limits_hit.is_empty(), "{:?}", result.outcome.limits_hit);
    Ok(())
}
