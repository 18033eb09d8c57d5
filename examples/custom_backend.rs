//! Adds a third party's backend: local cells whose runs are counted, under a name of its own.
//!
//! `auto` prefers it here, because it was added to the builder. Try other names as the argument: `metered`, its alias
//! `counted`, `local`, or one that does not exist. `tests/custom_backend.rs` runs the conformance suite against it.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use agent_exec::local::LocalConfig;
use agent_exec::{
    Backend, Capabilities, Cmd, Detected, ExecOpts, Execution, Executor, Health, Result, SessionName, Setup,
};
use async_trait::async_trait;

const NAME: &str = "metered";

/// Local cells whose runs are counted.
#[derive(Debug, Default)]
pub(crate) struct Metered {
    runs: Arc<AtomicU64>,
}

#[async_trait]
impl Backend for Metered {
    fn name(&self) -> &str {
        NAME
    }

    fn aliases(&self) -> &[&str] {
        &["counted"]
    }

    fn description(&self) -> &'static str {
        "Namespaces on this host, with a count of runs"
    }

    /// Works where local cells work; elsewhere their reason and remedy are passed on, and `auto` tries the next.
    async fn detect(&self, setup: Setup) -> Result<Detected> {
        Ok(match LocalConfig::default().detect(setup).await? {
            Detected::Ready(cells) => {
                Detected::Ready(Arc::new(MeteredExec { cells, runs: Arc::clone(&self.runs) }))
            }
            missing @ Detected::Missing { .. } => missing,
        })
    }
}

/// Counts every run that starts, and leaves the rest to local cells.
#[derive(Debug)]
struct MeteredExec {
    cells: Arc<dyn Executor>,
    runs: Arc<AtomicU64>,
}

#[async_trait]
impl Executor for MeteredExec {
    fn name(&self) -> &str {
        NAME
    }

    fn capabilities(&self) -> &Capabilities {
        self.cells.capabilities()
    }

    async fn start(&self, cmd: &Cmd, opts: &ExecOpts) -> Result<Execution> {
        let execution = self.cells.start(cmd, opts).await?;
        self.runs.fetch_add(1, Ordering::Relaxed);
        Ok(execution)
    }

    async fn warm(&self, opts: &ExecOpts) -> Result<()> {
        self.cells.warm(opts).await
    }

    async fn end_session(&self, session: &SessionName) -> Result<()> {
        self.cells.end_session(session).await
    }

    async fn health(&self) -> Result<Health> {
        self.cells.health().await
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let wanted = std::env::args().nth(1).unwrap_or_else(|| "auto".to_owned());
    let opts = ExecOpts::in_workspace(".");
    let metered = Arc::new(Metered::default());
    let sandbox = agent_exec::builder()
        .backend(Arc::clone(&metered) as Arc<dyn Backend>)
        .sandbox(wanted)
        .first_run(opts.clone())
        .build()
        .await?;
    let result = sandbox.run(&Cmd::shell("echo hello from a cell"), &opts).await?;
    print!("{}", result.stdout.text());
    println!("isolation: {} by {}", result.outcome.isolation.level, result.outcome.executor);
    println!("metered runs: {}", metered.runs.load(Ordering::Relaxed));
    Ok(())
}
