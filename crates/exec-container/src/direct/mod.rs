//! One container for each command, for engines of an architecture we have no PID 1 for.
//!
//! The command is what the container is started with, below the engine's own init program; its streams are the
//! container's. The same walls stand around it as around a cell. What needs somebody of ours inside – terminals, sessions,
//! usage, deadlines that outlast a stopped orchestrator – is not there, and the capabilities say so.

mod attend;
mod body;
mod command;
mod failure;
mod input;
mod isolation;
mod launch;
mod output;
mod run;
mod status;

use std::sync::Arc;

use async_trait::async_trait;
use exec_cell::{new_run_id, require_floor};
use exec_core::{
    Capabilities, Cmd, Error, ErrorKind, ExecOpts, Execution, Executor, Fences, Health, Lifetime, Plan,
    Result, SessionName,
};
use tokio::time::Instant;

pub(crate) use body::INIT_DIRECTORY;
pub(crate) use isolation::capabilities;

use crate::draft::Drafter;
use crate::yard::Yard;
use body::INIT;
use command::Command;
use launch::Launch;

/// Runs every command in a container of its own.
#[derive(Debug)]
pub(crate) struct DirectExecutor {
    yard: Arc<Yard>,
    drafter: Drafter,
    capabilities: Arc<Capabilities>,
}

impl DirectExecutor {
    pub(crate) fn new(yard: Yard, drafter: Drafter, capabilities: Capabilities) -> Self {
        Self { yard: Arc::new(yard), drafter, capabilities: Arc::new(capabilities) }
    }

    async fn plan(&self, cmd: &Cmd, opts: &ExecOpts) -> Result<Plan> {
        require_floor(&self.capabilities, opts, self.name())?;
        let mut plan = Plan::resolve(cmd, opts, std::env::vars_os(), &self.yard.own)?;
        plan.take_notes(Fences::Hold)?;
        refuse_what_needs_a_cell(&plan).map_err(|error| error.with_backend(self.name()))?;
        self.drafter.prepare(&mut plan).await?;
        Ok(plan)
    }
}

#[async_trait]
impl Executor for DirectExecutor {
    fn name(&self) -> &str {
        self.yard.engine.backend()
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    #[tracing::instrument(skip_all, fields(executor = self.name(), program = %cmd.program().to_string_lossy()))]
    async fn start(&self, cmd: &Cmd, opts: &ExecOpts) -> Result<Execution> {
        let begun = Instant::now();
        self.yard.watch.admit().map_err(|error| error.with_backend(self.name()))?;
        let plan = self.plan(cmd, opts).await?;
        let launch = Launch {
            yard: Arc::clone(&self.yard),
            profile: self.drafter.profile.clone(),
            capabilities: Arc::clone(&self.capabilities),
            spec: self.drafter.spec(&plan)?,
            command: Command::of(&plan).map_err(|error| error.with_backend(self.name()))?,
            plan,
            begun,
            id: new_run_id(),
        };
        let id = launch.id.clone();
        // A task of its own: whoever gives up waiting does not leave half a container behind. What comes of it is
        // dropped then, which ends it.
        match tokio::spawn(launch.run()).await {
            Ok(started) => {
                started.map(|run| Execution::new(id, run)).inspect_err(|error| self.drafter.learn_from(error))
            }
            Err(_) => Err(Error::new(ErrorKind::Engine, "start", "making the container was interrupted")
                .with_backend(self.name())),
        }
    }

    /// Nothing is kept ready but the image.
    async fn warm(&self, opts: &ExecOpts) -> Result<()> {
        self.plan(&Cmd::new("true"), opts).await.map(drop)
    }

    async fn end_session(&self, _: &SessionName) -> Result<()> {
        Ok(())
    }

    /// Nothing but the init program is there in every image.
    async fn health(&self) -> Result<Health> {
        let cmd =
            if self.drafter.profile.knows_init { Cmd::new(INIT).arg("--version") } else { Cmd::new("true") };
        let workspace = tempfile::tempdir().map_err(|error| {
            Error::new(ErrorKind::Io, "health", "no directory can be made to try a container in")
                .with_backend(self.name())
                .with_source(error)
        })?;
        let result = self.run(&cmd, &ExecOpts::in_workspace(workspace.path())).await?;
        if !result.success() {
            return Err(Error::new(ErrorKind::Engine, "health", "a command in a new container failed")
                .with_backend(self.name())
                .with_context("status", format!("{:?}", result.outcome.status)));
        }
        Ok(Health { warm_cells: 0, sessions: 0 })
    }
}

/// What was asked for by name and can't be had is an error.
fn refuse_what_needs_a_cell(plan: &Plan) -> Result<()> {
    let asked = [
        (plan.tty.is_some(), "a terminal", "leave --tty out"),
        (plan.lifetime != Lifetime::Ephemeral, "a session", "run every command by itself"),
    ];
    match asked.iter().find(|(asked, ..)| *asked) {
        None => Ok(()),
        Some((_, what, instead)) => Err(Error::new(
            ErrorKind::Unsupported,
            "start",
            format!("{what} can't be had on this engine: we have no supervisor for its architecture"),
        )
        .with_remedy(format!("{instead}, or use an engine of this machine's architecture"))),
    }
}
