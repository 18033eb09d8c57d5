//! Processes, threads and open files.

use anyhow::{Result, ensure};
use exec_core::{Ended, ExecOpts, Held, Isolation, Limit, LimitName};

use crate::case::{Case, case};
use crate::{Ctx, check, processes};

pub(super) const CASES: &[Case] = &[
    case!(too_many_processes, "A30 R40 R42", PidsLimit),
    case!(too_many_threads, "A30 R40", PidsLimit),
    case!(processes_below_the_limit_are_fine, "R40", PidsLimit),
    case!(a_fork_bomb_can_be_stopped, "A30 R10", PidsLimit),
    case!(too_many_open_files, "A30 R40"),
];

const LIMIT: u32 = 32;

fn opts(ctx: &Ctx) -> ExecOpts {
    ctx.opts().with_pids(LIMIT)
}

fn is_counted(isolation: &Isolation) -> bool {
    let pids = isolation.limits.iter().find(|report| report.limit == LimitName::Pids);
    pids.is_some_and(|report| matches!(&report.held, Held::Enforced { by } if by.contains("control groups")))
}

/// How many there were before the system refused.
fn refused_after(said: &str) -> Option<u32> {
    said.trim_end().strip_prefix("errno EAGAIN after ")?.parse().ok()
}

/// A30, R40, R42: the system refuses one more, and the result says which limit that was. Only control groups count
/// refusals; a limit held by other means is not known to have been met.
async fn too_many_processes(ctx: Ctx) -> Result<()> {
    let result = ctx.run(&ctx.probe(&["fork-bomb", "100", ctx.marker()]), &opts(&ctx)).await?;
    let made = refused_after(&result.stdout.text());
    ensure!(made.is_some_and(|made| made < LIMIT), "{}", check::describe(&result));
    if is_counted(&result.outcome.isolation) {
        check::names_limit(&result.outcome, LimitName::Pids)?;
    }
    processes::ensure_none(ctx.marker())
}

/// A30, R40: threads count.
async fn too_many_threads(ctx: Ctx) -> Result<()> {
    let result = ctx.run(&ctx.probe(&["spawn-threads", "100"]), &opts(&ctx)).await?;
    let made = refused_after(&result.stdout.text());
    ensure!(made.is_some_and(|made| made < LIMIT), "{}", check::describe(&result));
    Ok(())
}

/// R40: what the supervisor needs for itself is not taken from the command.
async fn processes_below_the_limit_are_fine(ctx: Ctx) -> Result<()> {
    let most = (LIMIT - 1).to_string();
    let result = ctx.run(&ctx.probe(&["fork-bomb", &most, ctx.marker()]), &opts(&ctx)).await?;
    check::printed(&result, &format!("made {most}"))?;
    ensure!(result.outcome.limits_hit.is_empty(), "{:?}", result.outcome.limits_hit);
    Ok(())
}

/// A30, R10: a cell that is full can still be stopped.
async fn a_fork_bomb_can_be_stopped(ctx: Ctx) -> Result<()> {
    let script = format!("./exec-probe fork-bomb 100 {0}; exec ./exec-probe pause {0}", ctx.marker());
    let run = ctx.start(&exec_core::Cmd::shell(script), &opts(&ctx)).await?;
    crate::stream::until(&run, "errno EAGAIN").await?;
    run.control().kill();
    crate::stream::rest(&run).await;
    check::ended(&run.wait().await?, Ended::Cancelled)?;
    processes::ensure_none(ctx.marker())
}

/// A30, R40: for each process.
async fn too_many_open_files(ctx: Ctx) -> Result<()> {
    ensure!(ctx.outside(&["open-files", "100"])? == "opened 100", "not outside either");
    let mut opts = ctx.opts();
    opts.limits.open_files = Limit::Exactly(64);
    let result = ctx.run(&ctx.probe(&["open-files", "100"]), &opts).await?;
    check::refused(&result, &["EMFILE"])
}
