//! Sessions: one cell for all commands of a name, kept until the session ends.

use std::time::Duration;

use anyhow::{Result, ensure};
use exec_core::{Cmd, Ended, ExecOpts, SessionName};

use crate::case::{Case, Need, case};
use crate::{Ctx, check, processes, stream};

pub(super) const CASES: &[Case] = &[
    case!(tmp_lasts, "R2", PrivateTmp; Need::Sessions),
    case!(tmp_goes_with_the_session, "R2", PrivateTmp; Need::Sessions),
    case!(sessions_are_apart, "R2", PrivateTmp; Need::Sessions),
    case!(background_processes_last_until_the_end, "R10", KillsDescendants; Need::Sessions),
    case!(stopping_one_run_leaves_the_others, "R10", KillsDescendants; Need::Sessions),
    case!(a_time_out_ends_one_run_only, "R10", KillsDescendants; Need::Sessions),
    case!(dropping_ends_one_run_only, "R10 F3"; Need::Sessions),
    case!(runs_at_the_same_time_are_apart, "R2"; Need::Sessions),
    case!(ending_a_session_ends_its_runs, "R10"; Need::Sessions),
    case!(ending_a_missing_session_is_fine, "F11"; Need::Sessions),
    case!(a_session_has_no_variables_of_its_own, "R2"; Need::Sessions),
];

/// A session of this case; each number is a separate session.
fn session(ctx: &Ctx, number: u32) -> SessionName {
    SessionName::new(format!("{}-{number}", ctx.marker()))
}

fn opts(ctx: &Ctx, session: &SessionName) -> ExecOpts {
    ctx.opts().in_session(session.clone()).with_grace(Duration::from_millis(300))
}

fn marker(ctx: &Ctx, of: &str) -> String {
    format!("{}-{of}", ctx.marker())
}

/// R2: a command finds the files that an earlier one left in `/tmp`.
async fn tmp_lasts(ctx: Ctx) -> Result<()> {
    let session = session(&ctx, 0);
    ctx.run(&Cmd::shell("echo kept > /tmp/kept"), &opts(&ctx, &session)).await?;
    let result = ctx.run(&Cmd::shell("cat /tmp/kept"), &opts(&ctx, &session)).await?;
    check::printed(&result, "kept")?;
    Ok(ctx.executor().end_session(&session).await?)
}

/// R2: a new session of the same name starts empty.
async fn tmp_goes_with_the_session(ctx: Ctx) -> Result<()> {
    let session = session(&ctx, 0);
    ctx.run(&Cmd::shell("echo kept > /tmp/kept"), &opts(&ctx, &session)).await?;
    ctx.executor().end_session(&session).await?;
    let result = ctx.run(&ctx.probe(&["read", "/tmp/kept"]), &opts(&ctx, &session)).await?;
    check::refused(&result, &["ENOENT"])?;
    Ok(ctx.executor().end_session(&session).await?)
}

/// R2: sessions do not share files.
async fn sessions_are_apart(ctx: Ctx) -> Result<()> {
    let (one, other) = (session(&ctx, 0), session(&ctx, 1));
    ctx.run(&Cmd::shell("echo kept > /tmp/kept"), &opts(&ctx, &one)).await?;
    let result = ctx.run(&ctx.probe(&["read", "/tmp/kept"]), &opts(&ctx, &other)).await?;
    check::refused(&result, &["ENOENT"])?;
    ctx.executor().end_session(&one).await?;
    Ok(ctx.executor().end_session(&other).await?)
}

/// R10: a process left running on purpose lives until the session ends, and no longer.
async fn background_processes_last_until_the_end(ctx: Ctx) -> Result<()> {
    let session = session(&ctx, 0);
    let result = ctx.run(&ctx.probe(&["daemon", ctx.marker()]), &opts(&ctx, &session)).await?;
    check::printed(&result, "left behind")?;
    check::exited(&ctx.run(&ctx.probe(&["exit", "0"]), &opts(&ctx, &session)).await?, 0)?;
    ensure!(!processes::with_marker(ctx.marker()).is_empty(), "the daemon is dead before its session");
    ctx.executor().end_session(&session).await?;
    processes::ensure_none(ctx.marker())
}

/// Starts a run with its own daemon.
async fn start_with_daemon(ctx: &Ctx, opts: &ExecOpts, marker: &str) -> Result<exec_core::Execution> {
    let script = format!("./exec-probe daemon {marker}; exec ./exec-probe pause {marker}");
    let run = ctx.start(&Cmd::shell(script), opts).await?;
    stream::until(&run, "ready\n").await?;
    Ok(run)
}

/// R10: stopping a run kills all of it, but neither concurrent runs nor what earlier ones left.
async fn stopping_one_run_leaves_the_others(ctx: Ctx) -> Result<()> {
    let (session, opts) = (session(&ctx, 0), opts(&ctx, &session(&ctx, 0)));
    let (earlier, stopped, other) = (marker(&ctx, "earlier"), marker(&ctx, "stopped"), marker(&ctx, "other"));
    ctx.run(&ctx.probe(&["daemon", &earlier]), &opts).await?;
    let run = start_with_daemon(&ctx, &opts, &stopped).await?;
    let next_to_it = start_with_daemon(&ctx, &opts, &other).await?;
    run.cancel();
    stream::rest(&run).await;
    check::ended(&run.wait().await?, Ended::Cancelled)?;
    processes::ensure_none(&stopped)?;
    ensure!(processes::with_marker(&other).len() == 2, "the run next to it was touched");
    ensure!(processes::with_marker(&earlier).len() == 1, "a process of an earlier run was touched");
    ctx.executor().end_session(&session).await?;
    drop(next_to_it);
    processes::ensure_none(&other)
}

/// R10: a limit ends only the run it belongs to.
async fn a_time_out_ends_one_run_only(ctx: Ctx) -> Result<()> {
    let (session, opts) = (session(&ctx, 0), opts(&ctx, &session(&ctx, 0)));
    let (late, other) = (marker(&ctx, "late"), marker(&ctx, "other"));
    let next_to_it = start_with_daemon(&ctx, &opts, &other).await?;
    let limited = opts.clone().with_timeout(Duration::from_secs(1));
    let script = format!("./exec-probe daemon {late}; exec ./exec-probe pause {late}");
    let result = ctx.run(&Cmd::shell(script), &limited).await?;
    check::ended(&result.outcome, Ended::TimedOut)?;
    processes::ensure_none(&late)?;
    ensure!(processes::with_marker(&other).len() == 2, "the run next to it was touched");
    ctx.executor().end_session(&session).await?;
    drop(next_to_it);
    processes::ensure_none(&other)
}

/// R10, F3: dropping does, too.
async fn dropping_ends_one_run_only(ctx: Ctx) -> Result<()> {
    let (session, opts) = (session(&ctx, 0), opts(&ctx, &session(&ctx, 0)));
    let (dropped, other) = (marker(&ctx, "dropped"), marker(&ctx, "other"));
    let run = ctx.start(&ctx.probe(&["pause", &dropped]), &opts).await?;
    let next_to_it = ctx.start(&ctx.probe(&["pause", &other]), &opts).await?;
    stream::until(&run, "ready\n").await?;
    stream::until(&next_to_it, "ready\n").await?;
    drop(run);
    processes::eventually_dead(&dropped).await?;
    ensure!(processes::with_marker(&other).len() == 1, "the run next to it was touched");
    Ok(ctx.executor().end_session(&session).await?)
}

/// R2: each run has its own streams and its own code.
async fn runs_at_the_same_time_are_apart(ctx: Ctx) -> Result<()> {
    let session = session(&ctx, 0);
    let runs: Vec<_> = (0..10)
        .map(|code| {
            let (ctx, opts) = (ctx.clone(), opts(&ctx, &session));
            let cmd = Cmd::shell(format!("echo run {code}; exit {code}"));
            tokio::spawn(async move { anyhow::Ok((code, ctx.run(&cmd, &opts).await?)) })
        })
        .collect();
    for run in runs {
        let (code, result) = run.await??;
        check::exited(&result, code)?;
        ensure!(result.stdout.text() == format!("run {code}\n"), "{}", check::describe(&result));
    }
    Ok(ctx.executor().end_session(&session).await?)
}

/// R10: ending a session ends its runs, and their waiters learn of it.
async fn ending_a_session_ends_its_runs(ctx: Ctx) -> Result<()> {
    let session = session(&ctx, 0);
    let run = ctx.start(&ctx.probe(&["pause", ctx.marker()]), &opts(&ctx, &session)).await?;
    stream::until(&run, "ready\n").await?;
    ctx.executor().end_session(&session).await?;
    processes::ensure_none(ctx.marker())?;
    stream::rest(&run).await;
    if let Ok(outcome) = run.wait().await {
        ensure!(outcome.ended != Ended::Exited, "it did not exit by itself: {outcome:?}");
    }
    Ok(())
}

/// F11: ended twice, or never started.
async fn ending_a_missing_session_is_fine(ctx: Ctx) -> Result<()> {
    let session = session(&ctx, 0);
    ctx.executor().end_session(&session).await?;
    ctx.run(&ctx.probe(&["exit", "0"]), &opts(&ctx, &session)).await?;
    ctx.executor().end_session(&session).await?;
    Ok(ctx.executor().end_session(&session).await?)
}

/// R2: variables and working directory belong to a run.
async fn a_session_has_no_variables_of_its_own(ctx: Ctx) -> Result<()> {
    let session = session(&ctx, 0);
    std::fs::create_dir(ctx.workspace().join("sub"))?;
    let first = opts(&ctx, &session).with_env("ONLY_ONCE", "1").with_cwd("sub");
    ctx.run(&Cmd::shell("cd /; true"), &first).await?;
    let result = ctx.run(&Cmd::shell("echo \"[$ONLY_ONCE]\"; pwd"), &opts(&ctx, &session)).await?;
    check::printed(&result, &format!("[]\n{}", ctx.workspace().canonicalize()?.display()))?;
    Ok(ctx.executor().end_session(&session).await?)
}
