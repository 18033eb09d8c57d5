//! `agentctl workshop`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{HowArgs, TalkArgs};

const FILE: &str = "A workshop is a YAML file:
  name: payments
  isolation: docker                  # or: process
  container:
    image: python:3.12-slim
    network: none
    mounts: [\"./fixtures:/fixtures:ro\"]
    resources: {memory: 2G, cpu: 1}
  workers:
    - builder                        # workers/builder.md
    - reviewers/strict.md
A worker is a file that begins with front matter:
  ---
  name: builder
  description: Builds and tests
  allowed-tools: [run_command, start_command, read_output]
  delegates-to: [strict]
  ---";

/// Check a workshop, or work in it.
///
/// A workshop is one sandbox and the workers who share it.
#[derive(Debug, Args)]
#[command(after_help = FILE)]
pub(crate) struct WorkshopArgs {
    #[command(subcommand)]
    pub(crate) command: WorkshopCommand,
}

impl WorkshopArgs {
    pub(crate) fn talk(&self) -> Option<&TalkArgs> {
        match &self.command {
            WorkshopCommand::Check { .. } => None,
            WorkshopCommand::Run(args) => Some(&args.how.talk),
        }
    }
}

/// What to do with a workshop.
#[derive(Debug, Subcommand)]
pub(crate) enum WorkshopCommand {
    /// Read a workshop and its workers, and say who may do what, or everything that is wrong.
    Check {
        /// The workshop's file.
        file: PathBuf,
    },
    // What `--help` says about it stands with its arguments.
    Run(Box<WorkshopRunArgs>),
}

/// Run commands of its workers in a workshop's one sandbox.
///
/// With a worker and a command, that command. Without, standard input has a line for each: the worker, a colon, and a line of
/// shell. They run one after the other in the same sandbox, up to the first that fails. A worker who may not use `run_command`
/// is refused before anything runs. Options given here win over the workshop's file.
#[derive(Debug, Args)]
#[command(
    override_usage = "agentctl workshop run [OPTIONS] FILE [WORKER -- CMD [ARGS]...]",
    after_help = "Examples:
  agentctl workshop run payments.yaml builder -- make test
  printf 'builder: make\\ntester: make test\\n' | agentctl workshop run payments.yaml"
)]
pub(crate) struct WorkshopRunArgs {
    /// The workshop's file.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Who runs the command.
    #[arg(value_name = "WORKER", requires = "argv")]
    pub(crate) worker: Option<String>,

    /// The program and its arguments, passed on literally: no shell reads them.
    #[arg(value_name = "CMD", last = true, requires = "worker")]
    pub(crate) argv: Vec<OsString>,

    #[command(flatten)]
    pub(crate) how: HowArgs,
}
