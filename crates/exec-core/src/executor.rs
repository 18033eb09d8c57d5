//! The trait every sandbox implements.

use std::fmt::Debug;

use async_trait::async_trait;
use bytes::Bytes;
use serde::Serialize;

use crate::{Capabilities, Cmd, ExecOpts, ExecResult, Execution, Result, SessionName};

/// Runs commands in cells of one kind. Usable as `Arc<dyn Executor>`.
///
/// The contract, each sentence of which has a conformance case that every executor passes:
///
/// - A command that exits non-zero, or is ended by a signal or a limit, is an `Ok` result.
/// - A program that does not exist is an error of kind `ProgramNotFound`, one that can't be run
///   `ProgramNotExecutable`; a working directory that does not exist is `InvalidInput`.
/// - Arguments, environment values and output are bytes: nothing is split, expanded or re-encoded.
/// - The command sees the allowed variables of the caller plus those of the options, and nothing else.
/// - When `run` returns, or the `Execution` was dropped, nothing the command started is alive (sessions: nothing of a
///   run that was stopped).
/// - Each stream's output is delivered in the order it was written, complete, however the command ended.
/// - A time-out, an idle time-out or an output limit ends the run even when nobody reads its output.
/// - The result names the executor and the isolation that held; a floor above that is refused before anything starts.
#[async_trait]
pub trait Executor: Send + Sync + Debug {
    /// The name it is chosen by: `local`, `docker`, `podman`.
    fn name(&self) -> &str;

    /// What its cells can do and hold.
    fn capabilities(&self) -> &Capabilities;

    /// Starts a command and returns as soon as it runs.
    async fn start(&self, cmd: &Cmd, opts: &ExecOpts) -> Result<Execution>;

    /// Runs a command to its end, keeping its output within the options' bounds.
    async fn run(&self, cmd: &Cmd, opts: &ExecOpts) -> Result<ExecResult> {
        self.start(cmd, opts).await?.collect(&opts.capture).await
    }

    /// Makes ready for runs with these options ahead of need, as far as the executor keeps anything ready.
    async fn warm(&self, _opts: &ExecOpts) -> Result<()> {
        Ok(())
    }

    /// Ends a session: everything in its cell dies. A session that does not exist is already ended.
    async fn end_session(&self, session: &SessionName) -> Result<()>;

    /// Whether a command would run now, found out by making a cell.
    async fn health(&self) -> Result<Health>;
}

/// An executor that is another one under a name of its own. It forwards everything, so that nothing is lost on the way.
pub trait Wraps {
    /// The one that does the work.
    fn inner(&self) -> &dyn Executor;
}

#[async_trait]
impl<T: Wraps + Send + Sync + Debug> Executor for T {
    fn name(&self) -> &str {
        self.inner().name()
    }

    fn capabilities(&self) -> &Capabilities {
        self.inner().capabilities()
    }

    async fn start(&self, cmd: &Cmd, opts: &ExecOpts) -> Result<Execution> {
        self.inner().start(cmd, opts).await
    }

    async fn run(&self, cmd: &Cmd, opts: &ExecOpts) -> Result<ExecResult> {
        self.inner().run(cmd, opts).await
    }

    async fn warm(&self, opts: &ExecOpts) -> Result<()> {
        self.inner().warm(opts).await
    }

    async fn end_session(&self, session: &SessionName) -> Result<()> {
        self.inner().end_session(session).await
    }

    async fn health(&self) -> Result<Health> {
        self.inner().health().await
    }
}

/// An executor that works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Health {
    /// Cells that stand ready for use.
    pub warm_cells: usize,
    /// Sessions that are open.
    pub sessions: usize,
}

/// What callers do often, written once for every executor.
#[async_trait]
pub trait ExecutorExt: Executor {
    /// Runs a line of shell.
    async fn shell(&self, script: &str, opts: &ExecOpts) -> Result<ExecResult> {
        self.run(&Cmd::shell(script), opts).await
    }

    /// Runs a command that reads `input`.
    async fn run_with_input(
        &self,
        cmd: &Cmd,
        input: impl Into<Bytes> + Send,
        opts: &ExecOpts,
    ) -> Result<ExecResult> {
        let opts = opts.clone().with_stdin(crate::Stdin::Bytes(input.into()));
        self.run(cmd, &opts).await
    }
}

impl<E: Executor + ?Sized> ExecutorExt for E {}
