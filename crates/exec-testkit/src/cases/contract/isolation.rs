//! The result names the executor and the isolation in force; a higher floor is refused before anything
//! starts.

use std::os::unix::fs::MetadataExt;

use anyhow::{Result, bail, ensure};
use exec_core::{ErrorKind, IsolationLevel};

use crate::case::{Case, Skip, case};
use crate::{Ctx, check};

pub(super) const CASES: &[Case] = &[
    case!(the_result_names_the_executor, "R3"),
    case!(the_result_names_the_isolation, "R3"),
    case!(the_isolation_is_what_was_promised, "R3"),
    case!(the_named_user_owns_new_files, "R3"),
    case!(a_higher_floor_is_refused_before_anything_starts, "R62"),
    case!(a_floor_that_is_reached_is_fine, "R62"),
    case!(a_healthy_executor_passes_its_check, "R65"),
];

/// R3
async fn the_result_names_the_executor(ctx: Ctx) -> Result<()> {
    let result = ctx.inside(&["exit", "0"]).await?;
    ensure!(result.outcome.executor == ctx.executor().name(), "{:?}", result.outcome.executor);
    Ok(())
}

/// R3: the level is the one that the executor announced.
async fn the_result_names_the_isolation(ctx: Ctx) -> Result<()> {
    let result = ctx.inside(&["exit", "0"]).await?;
    let (held, promised) = (result.outcome.isolation.level, ctx.executor().capabilities().level);
    ensure!(held == promised, "{held} held, {promised} was promised");
    Ok(())
}

/// R3: a claim made before the run holds in the run.
async fn the_isolation_is_what_was_promised(ctx: Ctx) -> Result<()> {
    let result = ctx.inside(&["exit", "0"]).await?;
    let held = &result.outcome.isolation.claims;
    let missing: Vec<_> = ctx.executor().capabilities().claims.difference(held).collect();
    ensure!(missing.is_empty(), "promised and not held: {missing:?}");
    Ok(())
}

/// R3: the user in the result owns the files the command makes.
async fn the_named_user_owns_new_files(ctx: Ctx) -> Result<()> {
    let result = ctx.inside(&["write", "made-inside"]).await?;
    check::printed(&result, "ok")?;
    let made = ctx.workspace().join("made-inside").metadata()?;
    let isolation = &result.outcome.isolation;
    ensure!(
        (made.uid(), made.gid()) == (isolation.uid, isolation.gid),
        "the file belongs to {}:{}, the result says {}:{}",
        made.uid(),
        made.gid(),
        isolation.uid,
        isolation.gid
    );
    Ok(())
}

/// R62: no command runs with less isolation than requested.
async fn a_higher_floor_is_refused_before_anything_starts(ctx: Ctx) -> Result<()> {
    let level = ctx.executor().capabilities().level;
    if level == IsolationLevel::Vm {
        bail!(Skip("no level is higher".into()));
    }
    let opts = ctx.opts().with_min_isolation(IsolationLevel::Vm);
    let error = check::failed(
        ctx.executor().run(&ctx.probe(&["write", "made-inside"]), &opts).await,
        ErrorKind::IsolationTooWeak,
    )?;
    ensure!(!ctx.workspace().join("made-inside").exists(), "the refused command ran");
    ensure!(error.remedy().is_some(), "no remedy: {error}");
    Ok(())
}

/// R62
async fn a_floor_that_is_reached_is_fine(ctx: Ctx) -> Result<()> {
    let opts = ctx.opts().with_min_isolation(ctx.executor().capabilities().level);
    check::exited(&ctx.run(&ctx.probe(&["exit", "0"]), &opts).await?, 0)
}

/// R65: the health check works and passes here.
async fn a_healthy_executor_passes_its_check(ctx: Ctx) -> Result<()> {
    ctx.executor().health().await?;
    Ok(())
}
