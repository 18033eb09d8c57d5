//! Many agents at once on one engine.

use std::sync::Arc;

use anyhow::{Result, ensure};
use exec_core::{Cmd, ExecOpts, Executor, SessionName};
use exec_docker::DockerExec;

use crate::support::{cells_on, ensure_nothing_is_left, executor, workspace};

const AGENTS: usize = 16;
const COMMANDS: usize = 50;

/// Every so many commands one gets a cell of its own; the others share the agent's session.
const EPHEMERAL_EVERY: usize = 5;

/// R103: right outputs, nothing left, memory flat.
pub(crate) async fn sixteen_at_once() -> Result<()> {
    let dir = workspace(1000)?;
    let executor = Arc::new(executor(2).await?);
    let opts = ExecOpts::in_workspace(dir.path());
    executor.warm(&opts).await?;
    let before = resident()?;
    let agents: Vec<_> =
        (0..AGENTS).map(|agent| tokio::spawn(work(Arc::clone(&executor), opts.clone(), agent))).collect();
    for agent in agents {
        agent.await??;
    }
    let grown = resident()?.saturating_sub(before);
    ensure!(grown < 64 << 20, "{grown} bytes more than before");
    drop(executor);
    ensure_nothing_is_left(dir.path()).await
}

async fn work(executor: Arc<DockerExec>, opts: ExecOpts, agent: usize) -> Result<()> {
    let session = SessionName::new(format!("agent-{agent}"));
    let in_session = opts.clone().in_session(session.clone());
    for number in 0..COMMANDS {
        let opts = if number % EPHEMERAL_EVERY == 0 { &opts } else { &in_session };
        let result = executor.run(&Cmd::shell(format!("echo {agent}/{number}")), opts).await?;
        ensure!(result.stdout.text() == format!("{agent}/{number}\n"), "{}", result.stdout.text());
    }
    executor.end_session(&session).await?;
    Ok(())
}

/// Bytes of memory this process has.
fn resident() -> Result<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm")?;
    let pages: u64 = statm.split_whitespace().nth(1).unwrap_or("0").parse()?;
    Ok(pages * 4096)
}

/// R15: warm cells are bounded, and go with whom they were made for.
pub(crate) async fn a_pool_ends_with_its_executor() -> Result<()> {
    let dir = workspace(1000)?;
    let executor = executor(2).await?;
    executor.warm(&ExecOpts::in_workspace(dir.path())).await?;
    ensure!(cells_on(dir.path()).await?.len() == 2, "{:?}", cells_on(dir.path()).await?);
    drop(executor);
    ensure_nothing_is_left(dir.path()).await
}
