//! CPU time per wall time, as a ratio: a busy machine gives less, never more.

use anyhow::{Context, Result, bail, ensure};
use exec_core::Cpus;

use crate::case::{Case, Skip, case};
use crate::{Ctx, check};

pub(super) const CASES: &[Case] = &[case!(a_share_is_not_exceeded, "A30 R40", CpuLimit)];

/// Two threads that spin for this long.
const BURN: [&str; 3] = ["burn-cpu", "2", "2000"];

fn burnt(said: &str) -> Result<f64> {
    let millis: u32 = said.trim().parse().context("no number")?;
    Ok(f64::from(millis) / 2000.0)
}

/// A30, R40: with a tenth of a CPU it gets less than three tenths; without a limit it gets more than that.
async fn a_share_is_not_exceeded(ctx: Ctx) -> Result<()> {
    let share: Cpus = "0.1".parse()?;
    let result = ctx.run(&ctx.probe(&BURN), &ctx.opts().with_cpus(share)).await?;
    check::exited(&result, 0)?;
    let inside = burnt(&result.stdout.text())?;
    ensure!(inside < 0.3, "{inside:.2} CPUs");
    let outside = burnt(&ctx.outside(&BURN)?)?;
    if outside < 0.3 {
        bail!(Skip(format!("this machine is too busy: {outside:.2} CPUs without a limit")));
    }
    Ok(())
}
