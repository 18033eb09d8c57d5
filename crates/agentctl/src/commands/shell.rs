//! `agentctl shell`: an interactive shell, which is a run with our terminal.

use exec_core::Result;

use super::run::{Occasion, carry_out};
use crate::args::ShellArgs;
use crate::backends::here;
use crate::resolve::{self, Host};

/// Opens the shell and returns the exit status.
pub(crate) async fn shell(args: &ShellArgs) -> Result<u8> {
    carry_out(&resolve::shell(args, &here(), Host::ours())?, Occasion::Shell).await
}
