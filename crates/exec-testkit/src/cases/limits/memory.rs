//! Memory of the run as a whole.

use anyhow::{Context, Result, ensure};
use exec_core::{ByteSize, Claim, Cmd, Ended, Exception, ExecOpts, Held, LimitName, LimitPolicy};

use crate::case::{Case, Need, case};
use crate::{Ctx, check, processes};

pub(super) const CASES: &[Case] = &[
    case!(too_much_memory_ends_it, "A30 R40 R42", MemoryLimit),
    case!(memory_below_the_limit_is_fine, "R40", MemoryLimit),
    case!(peak_memory_is_reported, "R3", MemoryLimit; Need::No(Exception::NoUsage)),
    case!(all_processes_count_together, "A30 R40", MemoryLimit),
    case!(a_childs_death_is_named, "A30 R42", MemoryLimit),
    case!(tmp_counts_as_memory, "A30 R20", MemoryLimit, PrivateTmp),
    case!(memory_in_a_memfd_counts_or_is_named, "A30 R41"),
    case!(the_next_run_has_its_own, "R40", MemoryLimit),
];

const LIMIT: ByteSize = ByteSize::mib(64);

/// Four times the limit.
const TOO_MUCH: &str = "268435456";

fn opts(ctx: &Ctx) -> ExecOpts {
    ctx.opts().with_memory(LIMIT)
}

/// A30, R40, R42: the kernel kills it, and the result names the reason.
async fn too_much_memory_ends_it(ctx: Ctx) -> Result<()> {
    ensure!(ctx.outside(&["eat-memory", TOO_MUCH])? == format!("ate {TOO_MUCH}"), "the host has too little");
    let result = ctx.run(&ctx.probe(&["eat-memory", TOO_MUCH, ctx.marker()]), &opts(&ctx)).await?;
    check::ended(&result.outcome, Ended::OutOfMemory)?;
    check::names_limit(&result.outcome, LimitName::Memory)?;
    processes::ensure_none(ctx.marker())
}

/// R40: half the limit is allowed.
async fn memory_below_the_limit_is_fine(ctx: Ctx) -> Result<()> {
    let result = ctx.run(&ctx.probe(&["eat-memory", "33554432"]), &opts(&ctx)).await?;
    check::printed(&result, "ate 33554432")
}

/// R3: of the run as a whole.
async fn peak_memory_is_reported(ctx: Ctx) -> Result<()> {
    let result = ctx.run(&ctx.probe(&["eat-memory", "33554432"]), &opts(&ctx)).await?;
    ensure!(result.outcome.usage.peak_memory >= 33_554_432, "peak {}", result.outcome.usage.peak_memory);
    Ok(())
}

/// A30, R40: eight processes, none of which is too large by itself, at the same time.
async fn all_processes_count_together(ctx: Ctx) -> Result<()> {
    let args = ["hoard", "8", "25165824"];
    ensure!(ctx.outside(&args)? == "all have it", "the host has too little");
    let result = ctx.run(&ctx.probe(&args), &opts(&ctx)).await?;
    check::names_limit(&result.outcome, LimitName::Memory)
}

/// A30, R42: even if the command itself continues.
async fn a_childs_death_is_named(ctx: Ctx) -> Result<()> {
    let script = format!("./exec-probe eat-memory {TOO_MUCH}; echo code $?; exit 0");
    let result = ctx.run(&Cmd::shell(script), &opts(&ctx)).await?;
    check::names_limit(&result.outcome, LimitName::Memory)
}

/// A30, R20: files in memory are memory.
async fn tmp_counts_as_memory(ctx: Ctx) -> Result<()> {
    let result = ctx.run(&ctx.probe(&["fill", "/tmp/large", TOO_MUCH]), &opts(&ctx)).await?;
    check::names_limit(&result.outcome, LimitName::Memory)
}

/// A30, R41: pages that belong to no file system and no process. If the limit does not cover them the report
/// says so.
async fn memory_in_a_memfd_counts_or_is_named(ctx: Ctx) -> Result<()> {
    let filled = format!("wrote {TOO_MUCH}");
    ensure!(ctx.outside(&["memfd", TOO_MUCH])? == filled, "the host has too little");
    let mut opts = opts(&ctx);
    opts.limits.policy = LimitPolicy::Report;
    let result = ctx.run(&ctx.probe(&["memfd", TOO_MUCH]), &opts).await?;
    let isolation = &result.outcome.isolation;
    let memory = isolation.limits.iter().find(|report| report.limit == LimitName::Memory);
    match &memory.context("no report about memory")?.held {
        Held::Enforced { .. } => check::names_limit(&result.outcome, LimitName::Memory),
        Held::InPart { gap, .. } => {
            check::printed(&result, &filled)?;
            ensure!(gap.contains("memfd"), "{gap}");
            ensure!(isolation.degraded.iter().any(|text| text.contains(gap)), "{:?}", isolation.degraded);
            ensure!(!isolation.holds(Claim::MemoryLimit), "claimed");
            Ok(())
        }
        Held::NotEnforced { .. } => check::printed(&result, &filled),
    }
}

/// R40: a run's memory use does not reduce the next run's.
async fn the_next_run_has_its_own(ctx: Ctx) -> Result<()> {
    ctx.run(&ctx.probe(&["eat-memory", TOO_MUCH]), &opts(&ctx)).await?;
    let result = ctx.run(&ctx.probe(&["eat-memory", "33554432"]), &opts(&ctx)).await?;
    check::printed(&result, "ate 33554432")?;
    ensure!(result.outcome.limits_hit.is_empty(), "{:?}", result.outcome.limits_hit);
    Ok(())
}
