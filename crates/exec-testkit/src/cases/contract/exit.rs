//! A command that exits non-zero, or is ended by a signal, is an `Ok` result.

use anyhow::{Context, Result, ensure};
use exec_core::{Ended, Exception, Signal};

use crate::case::{Case, Need, case};
use crate::{Ctx, check};

pub(super) const CASES: &[Case] = &[
    case!(exit_codes_are_results, "R4"),
    case!(death_by_signal_is_a_result, "R3 R4"),
    case!(a_shells_report_of_a_signal_is_a_code, "R4"),
    case!(usage_is_reported, "R3"; Need::No(Exception::NoUsage)),
];

/// Includes the codes that shells, engines and time-outs use for themselves.
const CODES: [i32; 10] = [0, 1, 3, 124, 125, 126, 127, 137, 143, 255];

/// R4: every exit code of the command is a result, and is reported unchanged.
async fn exit_codes_are_results(ctx: Ctx) -> Result<()> {
    for code in CODES {
        let result = ctx.inside(&["exit", &code.to_string()]).await?;
        check::exited(&result, code)?;
        ensure!(result.success() == (code == 0), "success() is wrong for {code}");
    }
    Ok(())
}

/// R3, R4: death by an external signal is reported as that signal.
async fn death_by_signal_is_a_result(ctx: Ctx) -> Result<()> {
    for number in [6, 9, 11, 15] {
        let result = ctx.inside(&["raise", &number.to_string()]).await?;
        check::ended(&result.outcome, Ended::Signalled)?;
        check::died_of(&result.outcome, Signal::new(number).context("no signal")?)?;
    }
    Ok(())
}

/// R4: a shell that reports its child's death by signal has exited.
async fn a_shells_report_of_a_signal_is_a_code(ctx: Ctx) -> Result<()> {
    let result = ctx.sh("sh -c 'kill -9 $$'; exit $?").await?;
    check::exited(&result, 137)
}

/// R3: CPU time, peak memory and duration are measured.
async fn usage_is_reported(ctx: Ctx) -> Result<()> {
    let result = ctx.inside(&["burn-cpu", "1", "100"]).await?;
    check::exited(&result, 0)?;
    let burnt: u128 = result.stdout.text().trim().parse().context("no number")?;
    let outcome = &result.outcome;
    // Clocks of different resolution measure the same time.
    ensure!(outcome.usage.cpu.as_millis() + 20 >= burnt, "{:?} of {burnt} ms CPU time", outcome.usage);
    ensure!(outcome.usage.peak_memory > 0, "no peak memory");
    ensure!(outcome.duration.as_millis() >= 100, "{:?} is too short", outcome.duration);
    Ok(())
}
