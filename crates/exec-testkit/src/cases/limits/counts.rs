//! Processes, threads and open files.

use std::fs;

use anyhow::{Context, Result, ensure};
use exec_core::{Ended, ExecOpts, Held, Isolation, Limit, LimitName, Stdin};

use crate::case::{Case, Skip, case};
use crate::{Ctx, check, processes, stream};

pub(super) const CASES: &[Case] = &[
    case!(too_many_processes, "A30 R40 R42", PidsLimit),
    case!(too_many_threads, "A30 R40", PidsLimit),
    case!(processes_below_the_limit_are_fine, "R40", PidsLimit),
    case!(a_fork_bomb_can_be_stopped, "A30 R10", PidsLimit),
    case!(too_many_open_files, "A30 R40"),
    case!(others_keep_inotify_instances, "A47", WatchLimit),
    case!(others_keep_half_of_the_signal_queue, "A47", WatchLimit),
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

/// A30, R40, R42: the system refuses one more, and the result names the limit. Only control groups count
/// refusals; with other means it is unknown whether the limit was reached.
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

/// R40: the supervisor's own processes are not charged to the command.
async fn processes_below_the_limit_are_fine(ctx: Ctx) -> Result<()> {
    let most = (LIMIT - 1).to_string();
    let result = ctx.run(&ctx.probe(&["fork-bomb", &most, ctx.marker()]), &opts(&ctx)).await?;
    check::printed(&result, &format!("made {most}"))?;
    ensure!(result.outcome.limits_hit.is_empty(), "{:?}", result.outcome.limits_hit);
    Ok(())
}

/// A30, R10: a full cell can still be stopped.
async fn a_fork_bomb_can_be_stopped(ctx: Ctx) -> Result<()> {
    let script = format!("./exec-probe fork-bomb 100 {0}; exec ./exec-probe pause {0}", ctx.marker());
    let run = ctx.start(&exec_core::Cmd::shell(script), &opts(&ctx)).await?;
    crate::stream::until(&run, "errno EAGAIN").await?;
    run.control().kill();
    crate::stream::rest(&run).await;
    check::ended(&run.wait().await?, Ended::Cancelled)?;
    processes::ensure_none(ctx.marker())
}

/// A30, R40: per process.
async fn too_many_open_files(ctx: Ctx) -> Result<()> {
    ensure!(ctx.outside(&["open-files", "100"])? == "opened 100", "not outside either");
    let mut opts = ctx.opts();
    opts.limits.open_files = Limit::Exactly(64);
    let result = ctx.run(&ctx.probe(&["open-files", "100"]), &opts).await?;
    check::refused(&result, &["EMFILE"])
}

/// A47: while a command holds all the instances it can get, the same user's processes on the host still get
/// one.
async fn others_keep_inotify_instances(ctx: Ctx) -> Result<()> {
    let _alone = tokio::task::spawn_blocking(alone_with_the_quota).await??;
    let most: u32 = fs::read_to_string("/proc/sys/fs/inotify/max_user_instances")?.trim().parse()?;
    let opts = ctx.opts().with_stdin(Stdin::Stream);
    let run = ctx.start(&ctx.probe(&["inotify", &(most + 1).to_string()]), &opts).await?;
    let said = stream::until(&run, "\n").await?;
    let made: u32 = said.trim_end().strip_prefix("errno EMFILE after ").context(said.clone())?.parse()?;
    let meanwhile = ctx.outside(&["inotify", "1"]);
    run.control().kill();
    stream::rest(&run).await;
    run.wait().await?;
    ensure!(meanwhile? == "made 1", "nothing is left for others");
    ensure!(made <= most / 4, "{made} of {most}");
    let one_more = (made + 1).to_string();
    ensure!(ctx.outside(&["inotify", &one_more])? == format!("made {one_more}"), "the host has as few");
    Ok(())
}

/// Several of these at once, on any backend, would use up each other's share. Dropping the file releases the
/// lock.
fn alone_with_the_quota() -> Result<fs::File> {
    let place = fs::File::open(std::env::temp_dir())?;
    rustix::fs::flock(&place, rustix::fs::FlockOperation::LockExclusive)?;
    Ok(place)
}

/// A47
async fn others_keep_half_of_the_signal_queue(ctx: Ctx) -> Result<()> {
    let queue = |limits: &str| {
        let line = limits.lines().find_map(|line| line.strip_prefix("Max pending signals"))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    let outside = queue(&fs::read_to_string("/proc/self/limits")?);
    let outside = outside.ok_or_else(|| Skip("the host has no limit for them".into()))?;
    let result = ctx.sh("cat /proc/self/limits").await?;
    let inside = queue(&result.stdout.text()).with_context(|| check::describe(&result))?;
    ensure!(inside <= outside / 2, "{inside} of {outside}");
    Ok(())
}
