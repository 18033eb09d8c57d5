//! `agentctl images`.

use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

/// List, fetch and remove images for runs.
#[derive(Debug, Args)]
pub(crate) struct ImagesArgs {
    #[command(subcommand)]
    pub(crate) command: ImagesCommand,
}

/// An engine with images.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineArg {
    Docker,
    Podman,
}

impl EngineArg {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Docker => "docker",
            Self::Podman => "podman",
        }
    }
}

/// What to do with images.
#[derive(Debug, Subcommand)]
pub(crate) enum ImagesCommand {
    /// List the images that agentctl made.
    Ls {
        /// List images of this engine only.
        #[arg(long, value_name = "ENGINE", value_enum)]
        sandbox: Option<EngineArg>,
        /// Print one array instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// Fetch an image before the first run needs it.
    #[command(after_help = "Examples:
  agentctl images pull python:3.12-slim")]
    Pull {
        /// Fetch this image.
        #[arg(value_name = "IMAGE")]
        image: String,
        /// Use this engine. Default: the first that answers.
        #[arg(long, value_name = "ENGINE", value_enum)]
        sandbox: Option<EngineArg>,
    },
    /// Remove unused images that agentctl made.
    ///
    /// Removes only images with agentctl's own label and no other name. Without --older-than and --keep-size,
    /// removes those that are older than a week.
    #[command(after_help = "Examples:
  agentctl images prune --dry-run
  agentctl images prune --older-than 30d
  agentctl images prune --keep-size 10g")]
    Prune {
        /// Remove images that are older than this.
        #[arg(long, value_name = "TIME", value_parser = exec_core::parse_duration)]
        older_than: Option<Duration>,
        /// Remove the oldest until the total is at most this size.
        #[arg(long, value_name = "SIZE")]
        keep_size: Option<exec_core::ByteSize>,
        /// Print what would be removed, and remove nothing.
        #[arg(short = 'n', long)]
        dry_run: bool,
        /// Remove images of this engine only.
        #[arg(long, value_name = "ENGINE", value_enum)]
        sandbox: Option<EngineArg>,
        /// Print one array instead of text.
        #[arg(long)]
        json: bool,
    },
}
