//! From the order to kill everything to the proof that nothing is left: twenty runs over all sandboxes there are, every
//! other one a fork bomb.
#![expect(clippy::expect_used, reason = "a bench that fails must stop")]

use std::time::{Duration, Instant};

use agent_exec::control::{Audit, StateDir, Target, Warden, Watch};
use agent_exec::{Cmd, ExecOpts, Execution, Executor, Sandbox};
use criterion::{Criterion, criterion_group, criterion_main};
use tempfile::TempDir;
use tokio::runtime::Runtime;

const RUNS: usize = 20;

/// A function that calls itself twice in the background; the limit keeps the machine usable.
const BOMB: &str = "b() { b | b & }; b; exec sleep 600";

fn stop(c: &mut Criterion) {
    let runtime = Runtime::new().expect("a runtime");
    let (state, workspace) =
        (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a workspace"));
    let watch = Watch::new(StateDir::at(state.path()), Audit::Off);
    let sandboxes = runtime.block_on(sandboxes(&watch));
    let names: Vec<&str> = sandboxes.iter().map(Executor::name).collect();
    let mut group = c.benchmark_group("stop");
    group.sample_size(10);
    group.bench_function(format!("kill-all-{RUNS}-{}", names.join("-")), |b| {
        b.iter_custom(|rounds| {
            (0..rounds).map(|_| runtime.block_on(kill_all(&sandboxes, &watch, &workspace))).sum()
        });
    });
    group.finish();
}

async fn sandboxes(watch: &Watch) -> Vec<Sandbox> {
    let mut found = Vec::new();
    for name in ["local", "docker", "podman"] {
        found.extend(agent_exec::builder().sandbox(name).watch(watch.clone()).build().await.ok());
    }
    found
}

async fn kill_all(sandboxes: &[Sandbox], watch: &Watch, workspace: &TempDir) -> Duration {
    let opts = ExecOpts::in_workspace(workspace.path()).with_pids(60);
    let mut runs: Vec<Execution> = Vec::new();
    for index in 0..RUNS {
        let sandbox = &sandboxes[index % sandboxes.len()];
        let cmd = if index % 2 == 0 { Cmd::shell(BOMB) } else { Cmd::new("sleep").arg("600") };
        runs.push(sandbox.start(&cmd, &opts).await.expect("a run"));
    }
    let begun = Instant::now();
    let report = Warden::of(watch.clone()).kill(&Target::All).await.expect("a report");
    let took = begun.elapsed();
    assert!(report.is_clean() && report.left.is_empty(), "{report:?}");
    for run in runs {
        run.wait().await.expect_err("it was killed from outside");
    }
    took
}

criterion_group!(benches, stop);
criterion_main!(benches);
