//! `cargo xtask fuzz`: feeds the frame decoder with input that no honest peer would send.

use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use crate::cargo;

/// Runs the fuzz target `frames` of exec-wire for this long.
pub(crate) fn run(seconds: u32) -> Result<()> {
    if !works(nightly_cargo().arg("--version")) {
        bail!("fuzzing needs a nightly compiler: rustup toolchain install nightly --profile minimal");
    }
    if !works(nightly_cargo().args(["fuzz", "--version"])) {
        bail!("fuzzing needs cargo-fuzz: cargo install cargo-fuzz --locked");
    }
    let limit = format!("-max_total_time={seconds}");
    let mut fuzz = nightly_cargo();
    fuzz.args(["fuzz", "run", "frames", "--", &limit]);
    cargo::run(fuzz.current_dir(cargo::root().join("crates/exec-wire")))
}

/// The cargo that runs this program belongs to one toolchain and does not understand `+nightly`; rustup does.
fn nightly_cargo() -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", "nightly", "cargo"]).env_remove("CARGO").env_remove("RUSTUP_TOOLCHAIN");
    command
}

fn works(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}
