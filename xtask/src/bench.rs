//! `cargo xtask bench`: runs the benches and compares the results with our claims about speed.

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
use crate::{engines, program, table};

/// Tools that the benches use or compare against, and that the project itself does not need.
const TOOLS: &[Tool] = &[
    Tool { program: "bwrap", package: "bubblewrap", without: "cold cells have no comparison" },
    Tool {
        program: "busybox",
        package: "busybox-static",
        without: "engines' own clients have no image to run",
    },
    Tool { program: "perl", package: "perl-base", without: "the fork bombs give up early" },
];

const ENGINES: &[&str] = &["docker", "podman"];

/// Runs all benches and prints the table of claims.
pub(crate) fn run(options: &BenchOptions) -> Result<()> {
    setup::install(TOOLS, Privilege::detect());
    let program = program::build()?;
    let target = cargo::metadata()?.target_directory;
    let working: Vec<&str> = ENGINES.iter().copied().filter(|engine| works(engine)).collect();
    let rounds = (0..options.rounds)
        .map(|_| round(&program, &target, options, &working))
        .collect::<Result<Vec<_>>>()?;
    let mut rows = claims::judge(claims::CLAIMS, &rounds);
    if working.contains(&"docker") {
        rows.extend(claims::judge(claims::OF_CHOOSING, &rounds));
        rows.extend(claims::judge(claims::OF_TOOLS, &rounds));
    }
    for engine in &working {
        rows.extend(claims::judge(&claims::of_engine(engine), &rounds));
    }
    print!("\n{}", table::layout(&claims::table(&rows)));
    let broken = rows.iter().filter(|row| row.verdict.is_broken()).count();
    if broken > 0 && options.broken_claim == BrokenClaim::Fails {
        bail!("{broken} of the claims do not hold or were not measured");
    }
    Ok(())
}

/// Whether an engine of this name can be measured.
fn works(engine: &str) -> bool {
    let works = engines::version(engine).is_some();
    if !works {
        println!("{engine} does not work here: its claims are not measured");
    }
    works
}

fn round(program: &Path, target: &Path, options: &BenchOptions, engines: &[&str]) -> Result<Medians> {
    let start = SystemTime::now();
    let mut bench = cargo(&["bench", "-p", "exec-benches"]);
    for name in ["bootstrap", "spawn", "cold", "stream", "stop"].iter().chain(engines) {
        bench.args(["--bench", name]);
    }
    if engines.contains(&"docker") {
        bench.args(["--bench", "choose"]);
    }
    bench.env("AGENTCTL_BIN", program);
    if !options.criterion.is_empty() {
        bench.arg("--").args(&options.criterion);
    }
    run_command(&mut bench)?;
    estimates::medians_since(&target.join("criterion"), start)
}
