//! From the order to kill everything to the proof that nothing is left: twenty runs over all available sandboxes,
//! every other one a fork bomb.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a bench that fails must stop, and says what it measures"
)]

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use agent_exec::control::{Audit, StateDir, Watch};
use agent_exec::{Cmd, ExecOpts, Execution, Executor, Sandbox};
use criterion::{Criterion, SamplingMode, criterion_group, criterion_main};
use exec_core::ErrorKind;
use tempfile::TempDir;
use tokio::runtime::Runtime;

const RUNS: usize = 20;

/// Waits for the file `go`, so that it does not slow down the start of the others. Unlike a shell it does not give up
/// when it can't fork. The limit keeps the machine usable.
const BOMB: &str = "select(undef, undef, undef, 0.05) until -e 'go'; fork while 1";

/// The time between the explosion and the order: by then all bombs have reached their limits.
const FUSE: Duration = Duration::from_secs(1);

fn stop(c: &mut Criterion) {
    let Some(agentctl) = std::env::var_os("AGENTCTL_BIN").map(PathBuf::from) else {
        assert!(std::env::args().any(|arg| arg == "--test"), "AGENTCTL_BIN names the program to measure");
        return;
    };
    let rig = Rig::new();
    let mut group = c.benchmark_group("stop");
    group.sampling_mode(SamplingMode::Flat).sample_size(10);
    group.warm_up_time(Duration::from_nanos(1)).measurement_time(Duration::from_millis(1));
    group.bench_function("kill-all", |b| {
        b.iter_custom(|rounds| (0..rounds).map(|_| rig.runtime.block_on(rig.kill_all(&agentctl))).sum());
    });
    group.finish();
}

struct Rig {
    runtime: Runtime,
    state: TempDir,
    workspace: TempDir,
    sandboxes: Vec<Sandbox>,
}

impl Rig {
    fn new() -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let (state, workspace) =
            (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a workspace"));
        let watch = Watch::new(StateDir::at(state.path()), Audit::Off);
        let sandboxes = runtime.block_on(sandboxes(&watch));
        let names: Vec<&str> = sandboxes.iter().map(Executor::name).collect();
        println!("{RUNS} runs over {}", names.join(", "));
        Self { runtime, state, workspace, sandboxes }
    }

    async fn kill_all(&self, agentctl: &PathBuf) -> Duration {
        let go = self.workspace.path().join("go");
        let runs = self.start_all().await;
        std::fs::write(&go, "").expect("a file");
        tokio::time::sleep(FUSE).await;
        let mut kill = Command::new(agentctl);
        kill.args(["kill", "--all"]).env("AGENTCTL_STATE_DIR", self.state.path());
        let begun = Instant::now();
        let status = kill.stdin(Stdio::null()).stdout(Stdio::null()).status().expect("agentctl");
        let took = begun.elapsed();
        std::fs::remove_file(go).expect("the file exists");
        assert!(status.success(), "{status}: something is left");
        for run in runs {
            let error = run.wait().await.expect_err("it was killed from outside");
            assert_eq!(error.kind(), ErrorKind::CellDied, "{error}");
        }
        took
    }

    async fn start_all(&self) -> Vec<Execution> {
        let opts = ExecOpts::in_workspace(self.workspace.path()).with_pids(60);
        let mut runs = Vec::new();
        for index in 0..RUNS {
            let sandbox = &self.sandboxes[index % self.sandboxes.len()];
            let cmd = if index % 2 == 0 {
                Cmd::new("perl").args(["-e", BOMB])
            } else {
                Cmd::new("sleep").arg("600")
            };
            runs.push(sandbox.start(&cmd, &opts).await.expect("a run"));
        }
        runs
    }
}

async fn sandboxes(watch: &Watch) -> Vec<Sandbox> {
    let mut found = Vec::new();
    for name in ["local", "docker", "podman"] {
        match agent_exec::builder().sandbox(name).watch(watch.clone()).build().await {
            Ok(sandbox) => found.push(sandbox),
            Err(error) => println!("without {name}: {error}"),
        }
    }
    found
}

criterion_group!(benches, stop);
criterion_main!(benches);
