//! `agentctl config`, and which configuration a run reads.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use exec_config::Format;

/// Which configuration counts.
#[derive(Debug, Args)]
#[command(next_help_heading = "Configuration")]
pub(crate) struct ConfigArg {
    /// Read this file in place of the user's and the project's; `agentctl config --help` says where those are.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

const PLACES: &str = "Where settings come from, the first wins:
  1. options of the command line
  2. AGENTCTL_* variables: AGENTCTL_SANDBOX, AGENTCTL_MEMORY …
  3. ENABLE_DOCKER, DOCKER_TIMEOUT (ms), DOCKER_MEMORY_LIMIT, DOCKER_CPU_LIMIT
  4. the project's .agentctl.toml, .yaml, .yml, .json or .jsonc: in the workspace and above it,
     to the outermost git repository and not beyond your home directory; the nearest first
  5. yours: $XDG_CONFIG_HOME/agentctl/config.toml (.yaml …), else ~/.config/agentctl/config.toml
What would loosen the sandbox counts in a project's file only after `agentctl config trust`, and
only as long as the file stays as it was then.";

/// See, check and begin configuration files, and say which to trust.
#[derive(Debug, Args)]
#[command(after_help = PLACES)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

/// What to do with configuration.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    // What `--help` says about it stands with its arguments.
    Show(ShowArgs),
    /// Print the JSON Schema of a configuration file, for editors.
    Schema,
    Init(InitArgs),
    /// Read a file as a run would, and say what is wrong with it.
    Check {
        /// The file.
        file: PathBuf,
    },
    /// Let a project's file count as a whole, as long as it stays as it is.
    Trust {
        /// The file; without it, those that a run here would read.
        file: Option<PathBuf>,
    },
    /// Take that back.
    Untrust {
        /// The file; without it, those that a run here would read.
        file: Option<PathBuf>,
    },
}

/// Show every setting that holds, and where it comes from.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// As if this directory were worked on. Default: the current one.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) config: ConfigArg,

    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Write a file to begin with: every key explained, none set.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// What it is written in.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) format: FormatArg,

    /// Write your own file instead of the project's, which is `.agentctl.*` in the current directory.
    #[arg(long)]
    pub(crate) user: bool,

    /// Replace what is there.
    #[arg(long)]
    pub(crate) force: bool,
}

/// A format by name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArg {
    /// TOML.
    #[default]
    Toml,
    /// YAML.
    Yaml,
    /// JSON with comments.
    Json,
}

impl FormatArg {
    pub(crate) fn format(self) -> Format {
        match self {
            Self::Toml => Format::Toml,
            Self::Yaml => Format::Yaml,
            Self::Json => Format::Json,
        }
    }
}
