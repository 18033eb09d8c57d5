//! `agentctl completions`: what makes a shell complete our options.

use clap::CommandFactory;
use clap_complete::Shell;
use exec_core::Result;

use crate::args::Cli;

/// Prints it and returns what to exit with.
pub(crate) fn completions(shell: Shell) -> Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "agentctl", &mut script);
    super::print(&script)
}
