//! `cargo xtask bench`: runs the benches and holds our claims about speed against what they measured.

mod claims;
mod estimates;

use std::path::Path;
use std::time::SystemTime;

use anyhow::{Result, bail};

use self::estimates::Medians;
use crate::args::{BenchOptions, BrokenClaim};
use crate::cargo::{self, cargo, run as run_command};
use crate::host::Privilege;
use crate::setup::{self, Tool};
use crate::table;

/// What the claims are measured against and the project itself does not need.
const TOOLS: &[Tool] =
    &[Tool { program: "bwrap", package: "bubblewrap", without: "cold cells are compared with nothing" }];

/// Odd, so that there is one in the middle.
const ROUNDS: usize = 3;

/// Runs all benches and prints the table of claims.
pub(crate) fn run(options: &BenchOptions) -> Result<()> {
    setup::install(TOOLS, Privilege::detect());
    run_command(&mut cargo(&["build", "--release", "-p", "agentctl"]))?;

    let target = cargo::metadata()?.target_directory;
    let rounds = (0..ROUNDS).map(|_| round(&target, options)).collect::<Result<Vec<_>>>()?;
    let rows = claims::judge(claims::CLAIMS, &rounds);
    print!("\n{}", table::layout(&claims::table(&rows)));
    let broken = rows.iter().filter(|row| row.verdict.is_broken()).count();
    if broken > 0 && options.broken_claim == BrokenClaim::Fails {
        bail!("{broken} of the claims do not hold or were not measured");
    }
    Ok(())
}

fn round(target: &Path, options: &BenchOptions) -> Result<Medians> {
    let start = SystemTime::now();
    let mut bench = cargo(&["bench", "-p", "exec-benches", "--bench", "*"]);
    bench.env("AGENTCTL_BIN", target.join("release").join("agentctl"));
    if !options.criterion.is_empty() {
        bench.arg("--").args(&options.criterion);
    }
    run_command(&mut bench)?;
    estimates::medians_since(&target.join("criterion"), start)
}
