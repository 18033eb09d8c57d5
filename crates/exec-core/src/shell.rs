//! One shell string in, a result out: what agents' shell tools speak.

use std::sync::Arc;

use crate::{Cmd, ExecOpts, ExecResult, Execution, Executor, Result};

/// Routes shell strings through any executor, with the same options each time.
#[derive(Debug, Clone)]
pub struct ShellCommandAdapter {
    executor: Arc<dyn Executor>,
    opts: ExecOpts,
    shell: Vec<String>,
}

impl ShellCommandAdapter {
    /// Runs strings with `sh -c` in the executor's cells.
    pub fn new(executor: Arc<dyn Executor>, opts: ExecOpts) -> Self {
        Self { executor, opts, shell: vec!["sh".into(), "-c".into()] }
    }

    /// Uses another shell, for example `["bash", "-euo", "pipefail", "-c"]`.
    #[must_use]
    pub fn with_shell(mut self, shell: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.shell = shell.into_iter().map(Into::into).collect();
        self
    }

    /// Runs a string to its end.
    pub async fn run(&self, script: &str) -> Result<ExecResult> {
        self.executor.run(&self.command(script)?, &self.opts).await
    }

    /// Starts a string.
    pub async fn start(&self, script: &str) -> Result<Execution> {
        self.executor.start(&self.command(script)?, &self.opts).await
    }

    fn command(&self, script: &str) -> Result<Cmd> {
        Ok(Cmd::from_argv(&self.shell)?.arg(script))
    }
}
