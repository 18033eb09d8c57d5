//! `agentctl config`, and the option that selects a run's configuration.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use exec_config::Format;

/// The configuration that counts.
#[derive(Debug, Args)]
#[command(next_help_heading = "Configuration")]
pub(crate) struct ConfigArg {
    /// Read this file in place of the user's and the project's; `agentctl config --help` lists those.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

const PLACES: &str = "Sources of settings, the first wins:
  1. options of the command line
  2. AGENTCTL_* variables: AGENTCTL_SANDBOX, AGENTCTL_MEMORY …
  3. ENABLE_DOCKER, DOCKER_TIMEOUT (ms), DOCKER_MEMORY_LIMIT, DOCKER_CPU_LIMIT
  4. the project's .agentctl.toml, .yaml, .yml, .json or .jsonc: in the
     workspace and above it, to the outermost git repository and not beyond
     your home directory; the nearest first
  5. yours: $XDG_CONFIG_HOME/agentctl/config.toml (.yaml …), else
     ~/.config/agentctl/config.toml
Settings of a project's file that loosen the sandbox count only after
`agentctl config trust`, and only until the file changes.";

/// Show, check, create and trust configuration files.
#[derive(Debug, Args)]
#[command(after_help = PLACES)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

/// What to do with configuration.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    // Its `--help` text is with its arguments.
    Show(ShowArgs),
    /// Print the JSON Schema of a configuration file, for editors.
    Schema,
    Init(InitArgs),
    /// Read a file as a run would, and report its mistakes.
    Check {
        /// Check this file.
        file: PathBuf,
    },
    /// Trust a project's file as a whole, until it changes.
    Trust {
        /// Trust this file. Default: those that a run here would read.
        file: Option<PathBuf>,
    },
    /// Withdraw the trust in a project's file.
    Untrust {
        /// Distrust this file. Default: those that a run here would read.
        file: Option<PathBuf>,
    },
}

/// Show every setting in force and its origin.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Show the settings for this directory. Default: the current one.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) config: ConfigArg,

    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Write a file with every key explained and none set.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Write it in this format.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) format: FormatArg,

    /// Write your own file instead of the project's `.agentctl.*` in the current directory.
    #[arg(long)]
    pub(crate) user: bool,

    /// Replace an existing file.
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
