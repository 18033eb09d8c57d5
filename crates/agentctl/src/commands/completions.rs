//! `agentctl completions`: completion scripts for shells.

use clap::CommandFactory;
use clap_complete::Shell;
use exec_core::Result;

use crate::args::Cli;

/// Prints the script and returns the exit status.
pub(crate) fn completions(shell: Shell) -> Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "agentctl", &mut script);
    super::print(&script)
}
