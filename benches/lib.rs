//! What the benches share: one runtime, one workspace, one executor.
#![expect(clippy::missing_panics_doc, reason = "a bench stops at what it did not expect")]

use std::time::{Duration, Instant};

use exec_core::{Cmd, ExecOpts, Executor};
use exec_local::{LocalConfig, LocalExec};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// A runtime, a workspace and a local executor in it.
#[derive(Debug)]
pub struct Rig {
    /// Runs everything.
    pub runtime: Runtime,
    /// Runs the sandboxed side.
    pub local: LocalExec,
    /// The options of every run.
    pub opts: ExecOpts,
    _workspace: TempDir,
}

impl Rig {
    /// A rig whose executor keeps this many cells warm. Benches stop if the setup fails.
    #[expect(clippy::expect_used, reason = "a bench that can't be set up has nothing to measure")]
    pub fn new(warm_cells: usize) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let workspace = tempfile::tempdir().expect("a workspace");
        let config = LocalConfig { warm_cells, ..LocalConfig::default() };
        let local = runtime.block_on(LocalExec::new(config)).expect("a local executor");
        Self { runtime, local, opts: ExecOpts::in_workspace(workspace.path()), _workspace: workspace }
    }

    /// Runs `true` in the sandbox, and panics if it fails.
    #[expect(clippy::expect_used, reason = "a failed run must not be measured as a fast one")]
    pub async fn run_true(&self, opts: &ExecOpts) {
        let result = self.local.run(&Cmd::new("true"), opts).await.expect("a run");
        assert!(result.success(), "{result:?}");
    }

    /// The time of `count` runs in the sandbox, each after its cell is ready.
    #[expect(clippy::expect_used, reason = "a bench that can't be set up has nothing to measure")]
    pub async fn time_warm(&self, count: u64) -> Duration {
        let mut total = Duration::ZERO;
        for _ in 0..count {
            self.local.warm(&self.opts).await.expect("a warm cell");
            total += one_at_a_time(self.run_true(&self.opts)).await;
        }
        total
    }
}

/// The idle time between two measured commands. An agent's commands come one at a time, and the kernel cleans up the
/// last cell in the background; both sides of a comparison wait alike.
const PAUSE: Duration = Duration::from_millis(10);

/// The time of one command that nothing else overlaps.
pub async fn one_at_a_time(command: impl Future<Output = ()>) -> Duration {
    tokio::time::sleep(PAUSE).await;
    let begun = Instant::now();
    command.await;
    begun.elapsed()
}
