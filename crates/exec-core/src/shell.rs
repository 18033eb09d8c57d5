//! An adapter for agents' shell tools: a shell string in, a result out.

use std::sync::Arc;

use crate::{Cmd, ExecOpts, ExecResult, Execution, Executor, Result};

/// Runs shell strings on any executor, with the same options each time.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use exec_core::{ExecOpts, Executor, ShellCommandAdapter};
///
/// async fn tool(executor: Arc<dyn Executor>, line: &str) -> exec_core::Result<String> {
///     let shell = ShellCommandAdapter::new(executor, ExecOpts::in_workspace("/srv/project"))
///         .with_shell(["bash", "-euo", "pipefail", "-c"]);
///     Ok(shell.run(line).await?.stdout.text())
/// }
/// ```
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

    /// Runs a shell string to its end.
    ///
    /// # Errors
    ///
    /// As [`Executor::run`], and `InvalidInput` if the shell is empty.
    pub async fn run(&self, script: &str) -> Result<ExecResult> {
        self.executor.run(&self.command(script)?, &self.opts).await
    }

    /// Starts a shell string.
    ///
    /// # Errors
    ///
    /// As [`Executor::start`], and `InvalidInput` if the shell is empty.
    pub async fn start(&self, script: &str) -> Result<Execution> {
        self.executor.start(&self.command(script)?, &self.opts).await
    }

    fn command(&self, script: &str) -> Result<Cmd> {
        Ok(Cmd::from_argv(&self.shell)?.arg(script))
    }
}
