//! An executor on an engine, and the engine's own client to compare with.

use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use exec_core::{Cmd, Event, ExecOpts, Executor, Limits, Preset, SessionName};
use exec_docker::ContainerConfig;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::ENGINE;

/// Bytes of output of one run: a gibibyte takes too long through an engine.
pub(crate) const STREAM: u64 = 256 << 20;

/// The idle time between two measured commands: the engine removes the last container in the background, which takes
/// longer than a command. Both sides of a comparison wait alike.
pub(crate) const PAUSE: Duration = Duration::from_millis(300);

/// The time of one command that nothing else overlaps.
pub(crate) async fn one_at_a_time(command: impl Future<Output = ()>) -> Duration {
    tokio::time::sleep(PAUSE).await;
    let begun = Instant::now();
    command.await;
    begun.elapsed()
}

pub(crate) struct EngineRig {
    pub(crate) runtime: Runtime,
    pub(crate) executor: Box<dyn Executor>,
    pub(crate) opts: ExecOpts,
    pub(crate) workspace: TempDir,
}

impl EngineRig {
    pub(crate) fn new(warm_cells: usize) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let workspace = tempfile::tempdir().expect("a workspace");
        let containers = ContainerConfig { warm_cells, ..ContainerConfig::default() };
        let executor = runtime.block_on(crate::executor(containers));
        Self { runtime, executor, opts: ExecOpts::in_workspace(workspace.path()), workspace }
    }

    pub(crate) async fn warm(&self) {
        self.executor.warm(&self.opts).await.expect("a warm cell");
    }

    pub(crate) async fn run_true(&self, opts: &ExecOpts) {
        let result = self.executor.run(&Cmd::new("true"), opts).await.expect("a run");
        assert!(result.success(), "{result:?}");
    }

    /// A session that may use the whole machine, like a bare build.
    pub(crate) fn build_session(&self) -> ExecOpts {
        let limits = Limits { preset: Preset::Build, ..Limits::default() };
        self.opts.clone().with_limits(limits).in_session(SessionName::new("build"))
    }

    /// Counts the bytes that arrive.
    pub(crate) async fn stream(&self) -> u64 {
        let head = Cmd::new("head").args(["-c", &STREAM.to_string(), "/dev/zero"]);
        let execution = self.executor.start(&head, &self.opts).await.expect("a run");
        let mut total = 0;
        while let Some(event) = execution.next_event().await {
            if let Event::Output { bytes, .. } = event {
                total += bytes.len() as u64;
            }
        }
        execution.wait().await.expect("an outcome");
        total
    }
}

pub(crate) async fn bare_true() {
    let output = tokio::process::Command::new("true").stdin(Stdio::null()).output().await.expect("a run");
    assert!(output.status.success());
}

pub(crate) fn succeeds(command: &mut Command) {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status().expect("a run");
    assert!(status.success(), "{command:?}: {status}");
}

/// The smallest available image. Looked up once, outside of the measurement.
fn image() -> &'static str {
    static IMAGE: OnceLock<&str> = OnceLock::new();
    IMAGE.get_or_init(|| exec_testkit::odd_image(ENGINE).expect("an image"))
}

/// The command people write by hand, in the smallest available image.
pub(crate) fn engine_run(command: &[&str]) -> Command {
    let (program, args) = command.split_first().expect("a program");
    let image = image();
    let mut run = crate::client();
    run.arg("run").args(crate::RUN_OPTIONS).args([
        "--rm",
        "--network",
        "none",
        "--user",
        "0",
        "--workdir",
        "/",
        "--entrypoint",
    ]);
    run.arg(format!("/bin/{program}")).arg(image).args(args);
    run
}

/// A long-running container.
pub(crate) struct Container(String);

impl Container {
    pub(crate) fn start() -> Self {
        let name = format!("exec-bench-{}", std::process::id());
        let image = image();
        let mut run = crate::client();
        run.arg("run").args(crate::RUN_OPTIONS).args([
            "--detach",
            "--rm",
            "--network",
            "none",
            "--user",
            "0",
            "--workdir",
            "/",
        ]);
        succeeds(run.args(["--name", &name, "--entrypoint", "/bin/sleep", image, "3600"]));
        Self(name)
    }

    pub(crate) fn name(&self) -> &str {
        &self.0
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        succeeds(crate::client().args(["rm", "--force", &self.0]));
    }
}
