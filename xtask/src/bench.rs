//! `cargo xtask bench`: runs the benches and holds our claims about speed against what they measured.

mod claims;
mod estimates;

use std::path::Path;
use std::process::{Command, Stdio};
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
    let engine = Engine::detect();
    let rounds = (0..ROUNDS).map(|_| round(&target, options, engine)).collect::<Result<Vec<_>>>()?;
    let mut rows = claims::judge(claims::CLAIMS, &rounds);
    if engine == Engine::Docker {
        rows.extend(claims::judge(claims::DOCKER_CLAIMS, &rounds));
    }
    print!("\n{}", table::layout(&claims::table(&rows)));
    let broken = rows.iter().filter(|row| row.verdict.is_broken()).count();
    if broken > 0 && options.broken_claim == BrokenClaim::Fails {
        bail!("{broken} of the claims do not hold or were not measured");
    }
    Ok(())
}

/// Whether there is an engine to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Engine {
    None,
    Docker,
}

impl Engine {
    fn detect() -> Self {
        let found =
            Command::new("docker").arg("version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        if found.is_ok_and(|status| status.success()) {
            return Self::Docker;
        }
        println!("no Docker engine answers: what is said of Docker is not measured");
        Self::None
    }
}

fn round(target: &Path, options: &BenchOptions, engine: Engine) -> Result<Medians> {
    let start = SystemTime::now();
    let mut bench = cargo(&["bench", "-p", "exec-benches"]);
    for name in ["spawn", "cold", "stream"] {
        bench.args(["--bench", name]);
    }
    if engine == Engine::Docker {
        bench.args(["--bench", "docker", "--bench", "choose"]);
    }
    bench.env("AGENTCTL_BIN", target.join("release").join("agentctl"));
    if !options.criterion.is_empty() {
        bench.arg("--").args(&options.criterion);
    }
    run_command(&mut bench)?;
    estimates::medians_since(&target.join("criterion"), start)
}
