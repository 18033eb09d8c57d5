//! The trait that every sandbox implements.

use std::fmt::Debug;

use async_trait::async_trait;
use bytes::Bytes;
use serde::Serialize;

use crate::{Capabilities, Cmd, ExecOpts, ExecResult, Execution, Result, SessionName};

/// Runs commands in cells of one kind. Usable as `Arc<dyn Executor>`.
///
/// # Contract
///
/// Each sentence has a conformance case that every executor passes:
///
/// - A command that exits non-zero, or is ended by a signal or a limit, is an `Ok` result.
/// - A missing program is an error of kind `ProgramNotFound`, one that can't be run `ProgramNotExecutable`; a missing
///   working directory is `InvalidInput`.
/// - Arguments, environment values and output are bytes: nothing is split, expanded or re-encoded.
/// - The command sees the caller's allowed variables plus those of the options, and nothing else.
/// - When `run` returns, or the `Execution` was dropped, nothing the command started is alive (in a session: nothing
///   started by a run that was stopped).
/// - Each stream's output is delivered in the order it was written, complete, however the command ended.
/// - A time-out, an idle time-out or an output limit ends the run even when its output is not read.
/// - The result names the executor and the isolation that held; a higher floor is refused before anything starts.
///
/// # Examples
///
/// ```
/// use exec_core::{Cmd, ExecOpts, Executor};
///
/// async fn git_version(executor: &dyn Executor) -> exec_core::Result<String> {
///     let result = executor.run(&Cmd::new("git").arg("--version"), &ExecOpts::default()).await?;
///     Ok(result.stdout.text())
/// }
/// ```
#[async_trait]
pub trait Executor: Send + Sync + Debug {
    /// The name that selects this executor: `local`, `docker`, `podman`.
    fn name(&self) -> &str;

    /// What its cells support and which properties they guarantee.
    fn capabilities(&self) -> &Capabilities;

    /// Starts a command and returns as soon as it runs.
    ///
    /// # Errors
    ///
    /// Returns an error if the request is invalid, the program can't be started, or the sandbox can't be made with what
    /// the options ask for by name: an isolation floor, a limit, an image. [`Error::kind`](crate::Error::kind) tells them
    /// apart.
    ///
    /// # Examples
    ///
    /// ```
    /// use exec_core::{Cmd, Event, ExecOpts, Executor};
    ///
    /// async fn stream(executor: &dyn Executor) -> exec_core::Result<()> {
    ///     let execution = executor.start(&Cmd::new("make"), &ExecOpts::default()).await?;
    ///     while let Some(event) = execution.next_event().await {
    ///         if let Event::Output { bytes, .. } = event {
    ///             print!("{}", String::from_utf8_lossy(&bytes));
    ///         }
    ///     }
    ///     let outcome = execution.wait().await?;
    ///     println!("{:?} after {:?}", outcome.ended, outcome.duration);
    ///     Ok(())
    /// }
    /// ```
    async fn start(&self, cmd: &Cmd, opts: &ExecOpts) -> Result<Execution>;

    /// Runs a command to its end and keeps its output within the bounds of [`ExecOpts::capture`].
    ///
    /// # Errors
    ///
    /// Fails as [`start`](Self::start) does, and if the sandbox dies before the command ends. A failing command is not an
    /// error: see [`ExecResult::success`].
    async fn run(&self, cmd: &Cmd, opts: &ExecOpts) -> Result<ExecResult> {
        self.start(cmd, opts).await?.collect(&opts.capture).await
    }

    /// Prepares for runs with these options, so that the next one starts faster. Does nothing by default.
    async fn warm(&self, _opts: &ExecOpts) -> Result<()> {
        Ok(())
    }

    /// Ends a session and kills everything in its cell. Ending a session that does not exist succeeds.
    async fn end_session(&self, session: &SessionName) -> Result<()>;

    /// Makes a cell to check that a command would run now.
    ///
    /// # Errors
    ///
    /// Returns the reason why no cell can be made, or that the new cell does not answer.
    async fn health(&self) -> Result<Health>;
}

/// Forwards every [`Executor`] method to an inner executor.
///
/// A type that wraps an executor implements this trait instead of `Executor`, so that no method is left to its default.
pub trait Wraps {
    /// The executor that does the work.
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

/// The state of a working executor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Health {
    /// Idle cells that are ready for use.
    pub warm_cells: usize,
    /// Open sessions.
    pub sessions: usize,
}

/// Conveniences for every [`Executor`].
///
/// # Examples
///
/// ```
/// use exec_core::{Cmd, ExecOpts, Executor, ExecutorExt};
///
/// async fn count_lines(executor: &dyn Executor) -> exec_core::Result<()> {
///     let opts = ExecOpts::in_workspace("/srv/project");
///     let listed = executor.shell("ls | sort", &opts).await?;
///     let counted = executor.run_with_input(&Cmd::new("wc").arg("-l"), listed.stdout.text(), &opts).await?;
///     println!("{}", counted.stdout.text());
///     Ok(())
/// }
/// ```
#[async_trait]
pub trait ExecutorExt: Executor {
    /// Runs a script with `sh -c`.
    ///
    /// # Errors
    ///
    /// As [`Executor::run`].
    async fn shell(&self, script: &str, opts: &ExecOpts) -> Result<ExecResult> {
        self.run(&Cmd::shell(script), opts).await
    }

    /// Runs a command with `input` as its standard input.
    ///
    /// # Errors
    ///
    /// As [`Executor::run`].
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
