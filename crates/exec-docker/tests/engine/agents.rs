//! Many agents at once on one engine.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agent_exec::control::{Audit, StateDir, Watch};
use anyhow::{Result, anyhow, ensure};
use exec_core::{Cmd, ExecOpts, Executor, SessionName};
use exec_docker::{ContainerConfig, DockerConfig, DockerExec};

use crate::support::{cells_on, ensure_nothing_is_left, executor, workspace};

const AGENTS: usize = 16;
const COMMANDS: usize = 50;

/// Every so many commands, one gets its own cell; the others share the agent's session.
const EPHEMERAL_EVERY: usize = 5;

/// R103: the outputs are right, nothing is left, and memory stays flat.
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

/// The memory of this process in bytes.
fn resident() -> Result<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm")?;
    let pages: u64 = statm.split_whitespace().nth(1).unwrap_or("0").parse()?;
    Ok(pages * 4096)
}

/// R15: warm cells are bounded, and end with their executor.
pub(crate) async fn a_pool_ends_with_its_executor() -> Result<()> {
    let dir = workspace(1000)?;
    let executor = executor(2).await?;
    executor.warm(&ExecOpts::in_workspace(dir.path())).await?;
    ensure!(cells_on(dir.path()).await?.len() == 2, "{:?}", cells_on(dir.path()).await?);
    drop(executor);
    ensure_nothing_is_left(dir.path()).await
}

/// R15, F1: a process that is about to end drops its runtime first, so no task notices the end of a
/// container. Here the process lives on, as a slow one does for a moment.
pub(crate) async fn a_runtime_that_ends_leaves_no_record() -> Result<()> {
    let (dir, state) = (workspace(1000)?, tempfile::tempdir()?);
    let records = state.path().join("cells");
    let count = || std::fs::read_dir(&records).map_or(0, Iterator::count);
    let watch = Watch::new(StateDir::at(state.path()), Audit::Off);
    let opts = ExecOpts::in_workspace(dir.path());
    let made = std::thread::spawn(move || -> Result<_> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let containers = ContainerConfig { warm_cells: 1, watch, ..ContainerConfig::default() };
        let config = DockerConfig { containers, ..DockerConfig::default() };
        let executor = runtime.block_on(DockerExec::new(config))?;
        runtime.block_on(executor.warm(&opts))?;
        Ok((runtime, executor))
    });
    let (runtime, executor) = made.join().map_err(|_| anyhow!("the other runtime failed"))??;
    ensure!(count() == 1, "the control: there should be a record");
    runtime.shutdown_background();
    drop(executor);
    ensure_nothing_is_left(dir.path()).await?;
    let end = Instant::now() + Duration::from_secs(20);
    while count() > 0 {
        ensure!(Instant::now() < end, "the record is left");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}
