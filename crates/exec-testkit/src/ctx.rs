//! The surroundings of a case: an executor, its own workspace, and helpers for common steps.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result};
use exec_core::{Cmd, ExecOpts, ExecResult, Execution, Executor};
use tempfile::TempDir;

use crate::outside;
use crate::probe::{Probe, open_to_all};

/// Numbers the cases of this process, so that each has its own marker.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// The surroundings of one case. Copies share them; the last one removes them.
#[derive(Debug, Clone)]
pub struct Ctx {
    label: String,
    executor: Arc<dyn Executor>,
    workspace: Arc<TempDir>,
    probe: PathBuf,
    host_probe: Probe,
    marker: String,
}

impl Ctx {
    /// The environment of one case on this executor.
    pub(crate) fn new(label: &str, executor: Arc<dyn Executor>, probe: &Probe) -> Result<Self> {
        let dir =
            tempfile::Builder::new().prefix("exec-case.").tempdir().context("no temporary directory")?;
        open_to_all(dir.path())?;
        let placed = probe.place(dir.path()).context("can't put the probe into the workspace")?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Ok(Self {
            label: label.to_owned(),
            executor,
            workspace: Arc::new(dir),
            probe: placed,
            host_probe: probe.clone(),
            marker: format!("exec-testkit-{}-{number}", process::id()),
        })
    }

    /// The backend's name within this test program.
    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    /// The executor under test.
    pub fn executor(&self) -> &Arc<dyn Executor> {
        &self.executor
    }

    /// The workspace: fresh, with only the probe program in it.
    pub fn workspace(&self) -> &Path {
        self.workspace.path()
    }

    /// An argument that only this case's processes have.
    pub fn marker(&self) -> &str {
        &self.marker
    }

    /// The default options in this workspace.
    pub fn opts(&self) -> ExecOpts {
        ExecOpts::in_workspace(self.workspace())
    }

    /// The probe program with these arguments.
    pub fn probe(&self, args: &[&str]) -> Cmd {
        Cmd::new(&self.probe).args(args)
    }

    /// Runs the probe inside with the default options.
    pub async fn inside(&self, args: &[&str]) -> Result<ExecResult> {
        self.run(&self.probe(args), &self.opts()).await
    }

    /// Runs the probe on the host, as a control, and returns its output.
    pub fn outside(&self, args: &[&str]) -> Result<String> {
        outside::run(&self.host_probe.path(), self.workspace(), args)
    }

    /// The path of the probe on the host.
    pub fn host_probe(&self) -> PathBuf {
        self.host_probe.path()
    }

    /// Runs a line of shell inside with the default options.
    pub async fn sh(&self, script: &str) -> Result<ExecResult> {
        self.run(&Cmd::shell(script), &self.opts()).await
    }

    /// Runs a command to its end.
    pub async fn run(&self, cmd: &Cmd, opts: &ExecOpts) -> Result<ExecResult> {
        self.executor.run(cmd, opts).await.with_context(|| format!("can't run {cmd}"))
    }

    /// Starts a command.
    pub async fn start(&self, cmd: &Cmd, opts: &ExecOpts) -> Result<Execution> {
        self.executor.start(cmd, opts).await.with_context(|| format!("can't start {cmd}"))
    }

    /// Writes a file in the workspace, from outside.
    pub fn file(&self, name: &str, contents: &str) -> Result<PathBuf> {
        let path = self.workspace().join(name);
        fs::write(&path, contents).with_context(|| format!("can't write {}", path.display()))?;
        Ok(path)
    }
}
