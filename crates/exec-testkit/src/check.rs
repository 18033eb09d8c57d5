//! Assertions with readable failures: the expectation, and all output of the run.

use std::fmt::Write as _;

use anyhow::{Result, bail, ensure};
use exec_core::{Change, Ended, Error, ErrorKind, ExecResult, LimitName, Outcome, Status};

use crate::{Ctx, Skip};

/// The run in a few lines.
pub(crate) fn describe(result: &ExecResult) -> String {
    let mut text = format!("ended {:?} with {:?}", result.outcome.ended, result.outcome.status);
    for (name, captured) in [("stdout", &result.stdout), ("stderr", &result.stderr)] {
        let shown: String = captured.text().chars().take(2000).collect();
        // Writing to a string can't fail.
        let _ = write!(text, "\n{name} ({} bytes): {shown:?}", captured.total());
    }
    text
}

/// The command exited by itself with this code.
pub(crate) fn exited(result: &ExecResult, code: i32) -> Result<()> {
    ensure!(
        result.ended() == Ended::Exited && result.exit_code() == Some(code),
        "expected it to exit with {code}; {}",
        describe(result)
    );
    Ok(())
}

/// The run was ended by this.
pub(crate) fn ended(outcome: &Outcome, expected: Ended) -> Result<()> {
    ensure!(
        outcome.ended == expected,
        "expected {expected:?}, got {:?} with {:?}, limits {:?}",
        outcome.ended,
        outcome.status,
        outcome.limits_hit
    );
    Ok(())
}

/// The main process died of this signal.
pub(crate) fn died_of(outcome: &Outcome, signal: exec_core::Signal) -> Result<()> {
    ensure!(outcome.status == Status::Signal(signal), "expected {signal}, got {:?}", outcome.status);
    Ok(())
}

/// A signal that the executor did not send ended it.
pub(crate) fn died_by_itself(outcome: &Outcome, signal: exec_core::Signal) -> Result<()> {
    ended(outcome, Ended::Signalled)?;
    died_of(outcome, signal)
}

/// The command exited with 0 and printed exactly this, apart from the last newline.
pub(crate) fn printed(result: &ExecResult, expected: &str) -> Result<()> {
    exited(result, 0)?;
    ensure!(
        result.stdout.text().trim_end_matches('\n') == expected,
        "expected {expected:?}; {}",
        describe(result)
    );
    Ok(())
}

/// The first line of its output is this.
pub(crate) fn printed_first(result: &ExecResult, expected: &str) -> Result<()> {
    ensure!(result.stdout.text().starts_with(expected), "expected {expected:?} first; {}", describe(result));
    Ok(())
}

/// The attempt was made and refused with one of these errors. A missing program is not a refusal.
pub(crate) fn refused(result: &ExecResult, errnos: &[&str]) -> Result<()> {
    exited(result, 0)?;
    let said = result.stdout.text();
    let found = said.trim_end().strip_prefix("errno ").is_some_and(|errno| errnos.contains(&errno));
    ensure!(found, "expected errno {}; {}", errnos.join(" or "), describe(result));
    Ok(())
}

/// The host allows what the cell refuses. If the host refuses too, the case is skipped.
pub(crate) async fn refused_inside_only(ctx: &Ctx, args: &[&str], errnos: &[&str]) -> Result<()> {
    refused(&ctx.inside(args).await?, errnos)?;
    let outside = ctx.outside(args)?;
    if !outside.starts_with("ok") {
        bail!(Skip(format!("the host itself answers `{outside}` to `{}`", args.join(" "))));
    }
    Ok(())
}

/// The result is an error of this kind, with a remedy.
pub(crate) fn failed<T>(result: exec_core::Result<T>, kind: ErrorKind) -> Result<Error> {
    match result {
        Ok(_) => bail!("expected an error of kind {kind:?}, but it ran"),
        Err(error) if error.kind() == kind => Ok(error),
        Err(error) => bail!("expected an error of kind {kind:?}, got {:?}: {error}", error.kind()),
    }
}

/// The limit is named, with the option that raises it.
pub(crate) fn names_limit(outcome: &Outcome, limit: LimitName) -> Result<()> {
    let hit = outcome.limits_hit.iter().find(|hit| hit.limit == limit);
    let named = hit.is_some_and(|hit| hit.remedy == Change::raise(limit.option()).into());
    ensure!(named, "{limit:?} with {} is not among {:?}", limit.option(), outcome.limits_hit);
    Ok(())
}
