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

/// Check a workshop, or run commands in it.
///
/// A workshop is one sandbox and the workers that share it.
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
    /// List the rights of each worker, or every mistake in the files.
    Check {
        /// Read this workshop.
        file: PathBuf,
    },
    // Its `--help` text is with its arguments.
    Run(Box<WorkshopRunArgs>),
}

/// Run commands of workers in their workshop's sandbox.
///
/// With a worker and a command, runs that command. Otherwise each line of standard input is a worker, a colon
/// and a line of shell. They run one after the other in the same sandbox, up to the first that fails. A
/// worker that may not use `run_command` is refused before anything runs. Options given here win over the
/// workshop's file.
#[derive(Debug, Args)]
#[command(
    override_usage = "agentctl workshop run [OPTIONS] FILE [WORKER -- CMD [ARGS]...]",
    after_help = "Examples:
  agentctl workshop run payments.yaml builder -- make test
  printf 'builder: make\\ntester: make test\\n' | agentctl workshop run payments.yaml"
)]
pub(crate) struct WorkshopRunArgs {
    /// Read this workshop.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Run the command as this worker.
    #[arg(value_name = "WORKER", requires = "argv")]
    pub(crate) worker: Option<String>,

    /// Run this program with these arguments, literally and without a shell.
    #[arg(value_name = "CMD", last = true, requires = "worker")]
    pub(crate) argv: Vec<OsString>,

    #[command(flatten)]
    pub(crate) how: HowArgs,
}
