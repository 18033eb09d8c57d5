//! Any number of callers may wait, any number of times; all get the same answer.

use std::sync::Arc;

use anyhow::{Result, ensure};
use exec_core::{Ended, Status};

use crate::case::{Case, case};
use crate::{Ctx, check, stream};

pub(super) const CASES: &[Case] = &[
    case!(waiting_again_gives_the_same_answer, "R5"),
    case!(a_hundred_waiters_get_the_same_answer, "R5 F11"),
    case!(waiting_needs_no_reader_for_small_output, "R5"),
    case!(output_can_be_read_after_the_end, "R5"),
    case!(many_runs_at_once, "R5 R103"),
];

/// R5: wait is idempotent.
async fn waiting_again_gives_the_same_answer(ctx: Ctx) -> Result<()> {
    let run = ctx.start(&ctx.probe(&["exit", "42"]), &ctx.opts()).await?;
    for _ in 0..3 {
        let outcome = run.wait().await?;
        ensure!((outcome.ended, outcome.status) == (Ended::Exited, Status::Code(42)), "{outcome:?}");
    }
    Ok(())
}

/// R5, F11: even from a hundred tasks at once, some of them late.
async fn a_hundred_waiters_get_the_same_answer(ctx: Ctx) -> Result<()> {
    let run = Arc::new(ctx.start(&ctx.probe(&["wait-signal"]), &ctx.opts()).await?);
    let waiters: Vec<_> = (0..100)
        .map(|_| {
            let run = Arc::clone(&run);
            tokio::spawn(async move { run.wait().await })
        })
        .collect();
    stream::until(&run, "ready\n").await?;
    run.cancel();
    stream::rest(&run).await;
    for waiter in waiters {
        let outcome = waiter.await??;
        ensure!((outcome.ended, outcome.status) == (Ended::Cancelled, Status::Code(7)), "{outcome:?}");
    }
    Ok(())
}

/// R5: a caller can wait without reading.
async fn waiting_needs_no_reader_for_small_output(ctx: Ctx) -> Result<()> {
    let run = ctx.start(&exec_core::Cmd::shell("echo a few words; exit 4"), &ctx.opts()).await?;
    ensure!(run.wait().await?.exit_code() == Some(4), "another code");
    Ok(())
}

/// R5: unread output is still available afterwards.
async fn output_can_be_read_after_the_end(ctx: Ctx) -> Result<()> {
    let run = ctx.start(&exec_core::Cmd::shell("echo a few words"), &ctx.opts()).await?;
    run.wait().await?;
    let (stdout, _) = stream::rest(&run).await;
    ensure!(stdout == b"a few words\n", "{:?}", String::from_utf8_lossy(&stdout));
    Ok(())
}

/// R5, R103: concurrent runs do not mix up their results.
async fn many_runs_at_once(ctx: Ctx) -> Result<()> {
    let runs: Vec<_> = (0..20)
        .map(|code| {
            let ctx = ctx.clone();
            let script = format!("echo run {code}; exit {code}");
            tokio::spawn(async move { anyhow::Ok((code, ctx.sh(&script).await?)) })
        })
        .collect();
    for run in runs {
        let (code, result) = run.await??;
        check::exited(&result, code)?;
        ensure!(result.stdout.text() == format!("run {code}\n"), "{}", check::describe(&result));
    }
    Ok(())
}
