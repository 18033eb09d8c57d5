//! `agentctl shell`: an interactive shell, which is a run with our terminal.

use exec_config::Here;
use exec_core::Result;

use super::run::carry_out;
use crate::args::ShellArgs;
use crate::choose;
use crate::output::messages;
use crate::resolve::{self, Host};

/// Opens it and returns what to exit with.
pub(crate) async fn shell(args: &ShellArgs) -> Result<u8> {
    let job = resolve::shell(args, &Here, Host::ours())?;
    let (executor, selection) = choose::executor(&job).await?;
    let opening = messages::shell_opening(
        executor.name(),
        executor.capabilities(),
        job.opts.on(executor.name()).network,
    );
    carry_out(&job, executor, &selection, Some(opening)).await
}
