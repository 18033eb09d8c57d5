//! However a run ends, its daemons end with it.

use std::time::Duration;

use anyhow::Result;
use exec_core::{ByteSize, Cmd, Ended, ExecOpts, Execution, Signal};

use crate::case::{Case, case};
use crate::{Ctx, check, processes, stream};

pub(super) const CASES: &[Case] = &[
    case!(by_a_time_out, "R10 A14", KillsDescendants),
    case!(by_silence, "R10 A14", KillsDescendants),
    case!(by_too_much_output, "R10 A14", KillsDescendants),
    case!(by_a_cancel, "R10 A14", KillsDescendants),
    case!(by_a_kill, "R10 A14", KillsDescendants),
    case!(by_a_signal, "R10 A14", KillsDescendants),
    case!(by_dropping, "R10 A14 F3", KillsDescendants),
    case!(by_dying, "R10 A14", KillsDescendants),
    case!(a_hundred_times, "R10 A14", KillsDescendants),
];

const SHORT: Duration = Duration::from_millis(300);

/// Leaves a daemon behind and then does `then`.
fn daemon_and(ctx: &Ctx, then: &str) -> Cmd {
    Cmd::shell(format!("./exec-probe daemon {}; {then}", ctx.marker()))
}

/// Runs it to its end under these options; the daemon existed and is dead.
async fn ends(ctx: &Ctx, then: &str, opts: &ExecOpts, by: Ended) -> Result<()> {
    let result = ctx.run(&daemon_and(ctx, then), opts).await?;
    check::printed_first(&result, "left behind")?;
    check::ended(&result.outcome, by)?;
    processes::ensure_none(ctx.marker())
}

/// Starts it, sees it alive, ends it, and waits.
async fn ends_when(ctx: &Ctx, end: fn(&Execution), by: Ended) -> Result<()> {
    let run = ctx.start(&daemon_and(ctx, "exec ./exec-probe pause x"), &ctx.opts().with_grace(SHORT)).await?;
    stream::until(&run, "ready\n").await?;
    processes::eventually_alive(ctx.marker()).await?;
    end(&run);
    stream::rest(&run).await;
    check::ended(&run.wait().await?, by)?;
    processes::ensure_none(ctx.marker())
}

/// R10, A14
async fn by_a_time_out(ctx: Ctx) -> Result<()> {
    let opts = ctx.opts().with_timeout(Duration::from_secs(1)).with_grace(SHORT);
    ends(&ctx, "exec ./exec-probe ignore-signals x", &opts, Ended::TimedOut).await
}

/// R10, A14
async fn by_silence(ctx: Ctx) -> Result<()> {
    let opts = ctx.opts().with_idle_timeout(Duration::from_secs(1)).with_grace(SHORT);
    ends(&ctx, "exec ./exec-probe ignore-signals x", &opts, Ended::TimedOut).await
}

/// R10, A14
async fn by_too_much_output(ctx: Ctx) -> Result<()> {
    let opts = ctx.opts().with_output_limit(ByteSize::mib(1));
    ends(&ctx, "exec ./exec-probe flood-forever stdout", &opts, Ended::OutputLimit).await
}

/// R10, A14
async fn by_a_cancel(ctx: Ctx) -> Result<()> {
    ends_when(&ctx, Execution::cancel, Ended::Cancelled).await
}

/// R10, A14
async fn by_a_kill(ctx: Ctx) -> Result<()> {
    ends_when(&ctx, |run| run.control().kill(), Ended::Cancelled).await
}

/// R10, A14
async fn by_a_signal(ctx: Ctx) -> Result<()> {
    ends_when(&ctx, |run| run.signal(Signal::TERM), Ended::Signalled).await
}

/// R10, A14, F3
async fn by_dropping(ctx: Ctx) -> Result<()> {
    let run = ctx.start(&daemon_and(&ctx, "exec ./exec-probe pause x"), &ctx.opts()).await?;
    stream::until(&run, "ready\n").await?;
    processes::eventually_alive(ctx.marker()).await?;
    drop(run);
    processes::eventually_dead(ctx.marker()).await
}

/// R10, A14
async fn by_dying(ctx: Ctx) -> Result<()> {
    let result = ctx.run(&daemon_and(&ctx, "kill -9 $$"), &ctx.opts()).await?;
    check::printed_first(&result, "left behind")?;
    check::died_by_itself(&result.outcome, Signal::KILL)?;
    processes::ensure_none(ctx.marker())
}

/// R10, A14: it holds every time.
async fn a_hundred_times(ctx: Ctx) -> Result<()> {
    for _ in 0..100 {
        check::printed(&ctx.inside(&["daemon", ctx.marker()]).await?, "left behind")?;
        processes::ensure_none(ctx.marker())?;
    }
    Ok(())
}
