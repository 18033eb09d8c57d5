//! The MCP client that the tests of `agentctl mcp` use: the real one, from the Python package index, in its
//! own environment below the target directory.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::cargo;
use crate::host::Privilege;
use crate::setup::{self, Tool};

/// The pinned version: its messages are what the tests are about.
const PACKAGE: &str = "mcp==2.3.0";

/// Below the target directory; the tests expect it there.
const DIRECTORY: &str = "mcp-client";

/// Provides `venv` if Python comes without it.
const VENV: &[Tool] = &[Tool {
    program: "/usr/share/doc/python3-venv/copyright",
    package: "python3-venv",
    without: "an environment for the MCP client",
}];

/// Installs it if it is missing.
pub(crate) fn prepare(privilege: Privilege) {
    setup::note(install(privilege), "the tests of `agentctl mcp` with a real client show as ignored");
}

fn install(privilege: Privilege) -> Result<()> {
    let place = cargo::metadata()?.target_directory.join(DIRECTORY);
    let python = place.join("bin").join("python");
    if works(&python) {
        println!("the MCP client is installed");
        return Ok(());
    }
    let make = || cargo::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&place));
    make().or_else(|_| {
        setup::install(VENV, privilege);
        make()
    })?;
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", PACKAGE]);
    cargo::run(&mut pip).with_context(|| format!("the MCP client ({PACKAGE})"))
}

fn works(python: &Path) -> bool {
    let (_, version) = PACKAGE.split_once("==").unwrap_or_default();
    let check = format!("import importlib.metadata as m, sys; sys.exit(m.version('mcp') != '{version}')");
    let tried = Command::new(python).args(["-c", &check]).stderr(Stdio::null()).status();
    tried.is_ok_and(|status| status.success())
}
