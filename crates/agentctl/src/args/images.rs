//! `agentctl images`.

use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Subcommand};

/// List, fetch and remove images for runs.
#[derive(Debug, Args)]
pub(crate) struct ImagesArgs {
    #[command(subcommand)]
    pub(crate) command: ImagesCommand,
}

/// The names of backends with images.
fn engine() -> PossibleValuesParser {
    let with_images = agent_exec::backends().into_iter().filter(|backend| backend.has_images);
    with_images.map(|backend| PossibleValue::new(backend.name).aliases(backend.aliases)).into()
}

/// What to do with images.
#[derive(Debug, Subcommand)]
pub(crate) enum ImagesCommand {
    /// List the images that agentctl made.
    Ls {
        /// List images of this engine only.
        #[arg(long, value_name = "ENGINE", value_parser = engine())]
        sandbox: Option<String>,
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
        #[arg(long, value_name = "ENGINE", value_parser = engine())]
        sandbox: Option<String>,
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
        #[arg(long, value_name = "ENGINE", value_parser = engine())]
        sandbox: Option<String>,
        /// Print one array instead of text.
        #[arg(long)]
        json: bool,
    },
}
