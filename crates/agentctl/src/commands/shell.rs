//! `agentctl shell`: an interactive shell, which is a run with our terminal.

use exec_core::Result;

use super::run::{Occasion, carry_out};
use crate::args::ShellArgs;
use crate::backends::here;
use crate::resolve::{self, Host};

/// Opens it and returns what to exit with.
pub(crate) async fn shell(args: &ShellArgs) -> Result<u8> {
    carry_out(&resolve::shell(args, &here(), Host::ours())?, Occasion::Shell).await
}
