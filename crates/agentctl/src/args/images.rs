//! `agentctl images`.

use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

/// List, fetch and remove images that runs use.
#[derive(Debug, Args)]
pub(crate) struct ImagesArgs {
    #[command(subcommand)]
    pub(crate) command: ImagesCommand,
}

/// An engine that has images.
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
        /// Of this engine only.
        #[arg(long, value_name = "ENGINE", value_enum)]
        sandbox: Option<EngineArg>,
        /// Print one array instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// Fetch an image, so that the first run need not wait for it.
    #[command(after_help = "Examples:
  agentctl images pull python:3.12-slim")]
    Pull {
        /// The image.
        #[arg(value_name = "IMAGE")]
        image: String,
        /// To this engine. Default: the first that answers.
        #[arg(long, value_name = "ENGINE", value_enum)]
        sandbox: Option<EngineArg>,
    },
    /// Remove images that agentctl made and nothing uses.
    ///
    /// Only images with agentctl's own label go, and only if nobody has given them another name. Without --older-than and --keep-size, those that are older than a week.
    #[command(after_help = "Examples:
  agentctl images prune --dry-run
  agentctl images prune --older-than 30d
  agentctl images prune --keep-size 10g")]
    Prune {
        /// Those that are older than this.
        #[arg(long, value_name = "TIME", value_parser = exec_core::parse_duration)]
        older_than: Option<Duration>,
        /// The oldest, until all together are no larger than this.
        #[arg(long, value_name = "SIZE")]
        keep_size: Option<exec_core::ByteSize>,
        /// Only say what would be removed.
        #[arg(short = 'n', long)]
        dry_run: bool,
        /// Of this engine only.
        #[arg(long, value_name = "ENGINE", value_enum)]
        sandbox: Option<EngineArg>,
        /// Print one array instead of text.
        #[arg(long)]
        json: bool,
    },
}
