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
    /// A rig whose executor keeps this many cells warm. Benches stop at what they can't set up.
    #[expect(clippy::expect_used, reason = "a bench that can't be set up has nothing to measure")]
    pub fn new(warm_cells: usize) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let workspace = tempfile::tempdir().expect("a workspace");
        let config = LocalConfig { warm_cells, ..LocalConfig::default() };
        let local = runtime.block_on(LocalExec::new(config)).expect("a local executor");
        Self { runtime, local, opts: ExecOpts::in_workspace(workspace.path()), _workspace: workspace }
    }

    /// Runs `true` in the sandbox and fails loudly if that does not work.
    #[expect(clippy::expect_used, reason = "a failed run must not be measured as a fast one")]
    pub async fn run_true(&self, opts: &ExecOpts) {
        let result = self.local.run(&Cmd::new("true"), opts).await.expect("a run");
        assert!(result.success(), "{result:?}");
    }

    /// Time of `count` runs in the sandbox, each after its cell stands ready.
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

/// How long the machine gets to itself between two measured commands. An agent's commands come one at a time, and the
/// kernel clears the last cell away in the background; both sides of a comparison wait alike.
const PAUSE: Duration = Duration::from_millis(10);

/// Time of one command that nothing else overlaps with.
pub async fn one_at_a_time(command: impl Future<Output = ()>) -> Duration {
    tokio::time::sleep(PAUSE).await;
    let begun = Instant::now();
    command.await;
    begun.elapsed()
}
