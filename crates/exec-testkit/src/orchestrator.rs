//! An orchestrator that can be killed: this test program, started once more with a single task.

use std::env;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use exec_core::{Cmd, ExecOpts};
use rustix::process::{Pid, Signal, kill_process};

use crate::{Ctx, Subject};

const LABEL: &str = "EXEC_TESTKIT_ORCHESTRATE";
const WORKSPACE: &str = "EXEC_TESTKIT_WORKSPACE";
const SCRIPT: &str = "EXEC_TESTKIT_SCRIPT";
const TIMEOUT: &str = "EXEC_TESTKIT_TIMEOUT_MS";

/// One run, to be held forever.
#[derive(Debug)]
pub(crate) struct Task {
    label: String,
    workspace: PathBuf,
    script: String,
    timeout: Duration,
}

impl Task {
    /// The task that this process was started for, if any.
    pub(crate) fn from_env() -> Option<Self> {
        Some(Self {
            label: env::var(LABEL).ok()?,
            workspace: env::var_os(WORKSPACE)?.into(),
            script: env::var(SCRIPT).ok()?,
            timeout: Duration::from_millis(env::var(TIMEOUT).ok()?.parse().ok()?),
        })
    }

    /// Starts the run and reads its output until it ends.
    pub(crate) async fn carry_out(&self, subjects: &[Subject]) -> ExitCode {
        let subject = subjects.iter().find(|subject| subject.label == self.label);
        let Some(Ok(executor)) = subject.map(|subject| &subject.executor) else { return ExitCode::FAILURE };
        let opts = ExecOpts::in_workspace(&self.workspace).with_timeout(self.timeout);
        match executor.run(&Cmd::shell(&self.script), &opts).await {
            Ok(_) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        }
    }
}

/// Another process that holds a run on the same backend.
#[derive(Debug)]
pub(crate) struct Orchestrator {
    child: Child,
}

impl Orchestrator {
    /// Starts it with this line of shell as its run.
    pub(crate) fn start(ctx: &Ctx, script: &str, timeout: Duration) -> Result<Self> {
        let child = Command::new(env::current_exe()?)
            .env(LABEL, ctx.label())
            .env(WORKSPACE, ctx.workspace())
            .env(SCRIPT, script)
            .env(TIMEOUT, timeout.as_millis().to_string())
            .stdin(Stdio::null())
            .spawn()
            .context("can't start this program again")?;
        Ok(Self { child })
    }

    /// Stops it with SIGSTOP: it does nothing any more, and keeps everything open.
    pub(crate) fn freeze(&self) -> Result<()> {
        let pid = Pid::from_raw(self.child.id() as i32).context("no process")?;
        Ok(kill_process(pid, Signal::STOP)?)
    }

    /// Kills it without a chance to clean up.
    pub(crate) fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Orchestrator {
    fn drop(&mut self) {
        // It may be dead already.
        let _ = self.kill();
    }
}
