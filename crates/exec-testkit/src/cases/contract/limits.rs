//! Limits hold or are refused; a limit that was reached is named.

use anyhow::{Context, Result, bail, ensure};
use exec_core::{
    ByteSize, Claim, Cpus, Ended, ErrorKind, ExecOpts, Held, LimitName, LimitPolicy, LimitReport,
};

use crate::case::{Case, case};
use crate::{Ctx, check, processes};

pub(super) const CASES: &[Case] = &[
    case!(the_output_limit_is_exact, "R40 R42"),
    case!(output_up_to_the_limit_is_left_alone, "R40"),
    case!(both_streams_count_together, "R40"),
    case!(the_output_limit_needs_no_reader, "F9"),
    case!(memory_holds_or_is_refused, "R41"),
    case!(pids_hold_or_are_refused, "R41"),
    case!(cpus_hold_or_are_refused, "R41"),
    case!(a_report_is_given_on_request, "R41"),
    case!(limits_of_zero_are_refused, "R40"),
];

const LIMIT: u64 = 1 << 20;

/// R40, R42: exactly the limit is delivered, not a byte more or less.
async fn the_output_limit_is_exact(ctx: Ctx) -> Result<()> {
    let opts = ctx.opts().with_output_limit(ByteSize::bytes(LIMIT));
    let result = ctx.run(&ctx.probe(&["flood-forever", "stdout", ctx.marker()]), &opts).await?;
    check::ended(&result.outcome, Ended::OutputLimit)?;
    check::names_limit(&result.outcome, LimitName::Output)?;
    ensure!(result.stdout.total() == LIMIT, "{} of {LIMIT} bytes", result.stdout.total());
    processes::ensure_none(ctx.marker())
}

/// R40: the limit itself is allowed.
async fn output_up_to_the_limit_is_left_alone(ctx: Ctx) -> Result<()> {
    let opts = ctx.opts().with_output_limit(ByteSize::bytes(LIMIT));
    let result = ctx.run(&ctx.probe(&["flood", "stdout", &LIMIT.to_string()]), &opts).await?;
    check::ended(&result.outcome, Ended::Exited)?;
    ensure!(result.stdout.total() == LIMIT, "{} of {LIMIT} bytes", result.stdout.total());
    Ok(())
}

/// R40: the limit can't be evaded through the other stream.
async fn both_streams_count_together(ctx: Ctx) -> Result<()> {
    let opts = ctx.opts().with_output_limit(ByteSize::bytes(LIMIT));
    let half = LIMIT / 2 + 1;
    let script = format!("./exec-probe flood stdout {half}; ./exec-probe flood stderr {half}; sleep 1000");
    let result = ctx.run(&exec_core::Cmd::shell(script), &opts).await?;
    check::ended(&result.outcome, Ended::OutputLimit)?;
    let total = result.stdout.total() + result.stderr.total();
    ensure!(total == LIMIT, "{total} of {LIMIT} bytes");
    Ok(())
}

/// F9: the run is ended although its output was never read.
async fn the_output_limit_needs_no_reader(ctx: Ctx) -> Result<()> {
    let opts = ctx.opts().with_output_limit(ByteSize::bytes(LIMIT));
    let run = ctx.start(&ctx.probe(&["flood-forever", "stdout", ctx.marker()]), &opts).await?;
    check::ended(&run.wait().await?, Ended::OutputLimit)?;
    processes::ensure_none(ctx.marker())
}

/// R41: a required limit is enforced for the run as a whole where that is claimed, and refused elsewhere.
async fn holds_or_is_refused(ctx: &Ctx, opts: &ExecOpts, claim: Claim, limit: LimitName) -> Result<()> {
    let ran = ctx.executor().run(&ctx.probe(&["exit", "0"]), opts).await;
    if !ctx.executor().capabilities().claims(claim) {
        let error = check::failed(ran, ErrorKind::LimitNotEnforced)?;
        ensure!(error.remedy().is_some(), "no remedy: {error}");
        return Ok(());
    }
    let result = ran?;
    check::exited(&result, 0)?;
    match report(&result.outcome.isolation.limits, limit)?.held {
        Held::Enforced { .. } => Ok(()),
        ref other => bail!("{limit:?} is claimed, asked for and {other:?}"),
    }
}

fn report(reports: &[LimitReport], limit: LimitName) -> Result<&LimitReport> {
    reports.iter().find(|report| report.limit == limit).with_context(|| format!("no report of {limit:?}"))
}

/// R41
async fn memory_holds_or_is_refused(ctx: Ctx) -> Result<()> {
    let opts = ctx.opts().with_memory(ByteSize::mib(256));
    holds_or_is_refused(&ctx, &opts, Claim::MemoryLimit, LimitName::Memory).await
}

/// R41
async fn pids_hold_or_are_refused(ctx: Ctx) -> Result<()> {
    holds_or_is_refused(&ctx, &ctx.opts().with_pids(64), Claim::PidsLimit, LimitName::Pids).await
}

/// R41
async fn cpus_hold_or_are_refused(ctx: Ctx) -> Result<()> {
    holds_or_is_refused(&ctx, &ctx.opts().with_cpus(Cpus::whole(1)), Claim::CpuLimit, LimitName::Cpus).await
}

/// R41: a caller that accepts a weaker run gets it, with a report of the limits that do not hold.
async fn a_report_is_given_on_request(ctx: Ctx) -> Result<()> {
    let mut opts = ctx.opts().with_memory(ByteSize::mib(256)).with_pids(64);
    opts.limits.policy = LimitPolicy::Report;
    let result = ctx.run(&ctx.probe(&["exit", "0"]), &opts).await?;
    check::exited(&result, 0)?;
    let isolation = &result.outcome.isolation;
    for (claim, limit) in [(Claim::MemoryLimit, LimitName::Memory), (Claim::PidsLimit, LimitName::Pids)] {
        let held = &report(&isolation.limits, limit)?.held;
        let as_a_whole = matches!(held, Held::Enforced { .. });
        ensure!(as_a_whole == isolation.holds(claim), "{limit:?} is {held:?}, against the claims");
    }
    Ok(())
}

/// R40: a limit of zero lets nothing run and is an error.
async fn limits_of_zero_are_refused(ctx: Ctx) -> Result<()> {
    let nothing = ByteSize::bytes(0);
    let zero = std::time::Duration::ZERO;
    for opts in [
        ctx.opts().with_memory(nothing),
        ctx.opts().with_pids(0),
        ctx.opts().with_output_limit(nothing),
        ctx.opts().with_timeout(zero),
        ctx.opts().with_idle_timeout(zero),
    ] {
        let ran = ctx.executor().run(&ctx.probe(&["exit", "0"]), &opts).await;
        check::failed(ran, ErrorKind::InvalidInput)?;
    }
    Ok(())
}
