//! Options about what goes in and out: secrets, standard input, terminal, output.

use std::ffi::OsString;

use clap::{Args, ValueEnum};
use exec_core::ByteSize;

/// Secret variables of the command.
#[derive(Debug, Args)]
#[command(next_help_heading = super::ENVIRONMENT)]
pub(crate) struct SecretArgs {
    /// Set a variable like --env, and keep its value out of logs and listings; repeatable.
    ///
    /// The value appears neither in the audit log nor in `agentctl ps` nor in what agentctl logs, even as part of the
    /// command's arguments. Prefer a name alone: other users of this machine can see what is typed here among its
    /// processes.
    #[arg(long, value_name = "NAME[=VALUE]")]
    pub(crate) secret: Vec<OsString>,
}

/// Input and output of `run`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input and output")]
pub(crate) struct RunIoArgs {
    /// What the command reads.
    #[arg(long, value_enum, value_name = "WHAT", default_value_t)]
    pub(crate) stdin: StdinArg,

    /// Give the command a terminal; `-t` alone means `always`.
    #[arg(
        short,
        long,
        value_enum,
        value_name = "WHEN",
        num_args = 0..=1,
        require_equals = true,
        default_value = "never",
        default_missing_value = "always"
    )]
    pub(crate) tty: TtyArg,

    /// Show output on a terminal as it is.
    ///
    /// Without it, colours pass and every other escape sequence is made visible.
    #[arg(long)]
    pub(crate) raw: bool,

    /// Print one JSON object at the end instead of the output.
    ///
    /// It has the status, the output, the limits, the isolation and how the sandbox was chosen, or the error.
    #[arg(long)]
    pub(crate) json: bool,

    /// With --json: keep this much of each output stream [default: 1m].
    ///
    /// Half from its beginning and half from its end; what is left out is counted.
    #[arg(long, value_name = "SIZE", requires = "json")]
    pub(crate) capture: Option<ByteSize>,
}

/// How much agentctl itself says.
#[derive(Debug, Args)]
#[command(next_help_heading = "Messages")]
pub(crate) struct TalkArgs {
    /// Say nothing but errors.
    ///
    /// Nothing about the sandbox, what is weaker than it should be, and limits that were hit.
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Say what was looked for and what is used, and log what happens.
    ///
    /// The variable `RUST_LOG` says how much, also without this option.
    #[arg(short, long)]
    pub(crate) verbose: bool,

    /// How our own lines look.
    #[arg(
        long,
        value_enum,
        value_name = "STYLE",
        env = "AGENTCTL_LOG",
        default_value_t,
        hide_env_values = true
    )]
    pub(crate) log: LogArg,
}

/// How our own lines look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogArg {
    /// For a person: short, and no more than matters.
    #[default]
    Text,
    /// For a worker's log: each line with time and level, and always which isolation there is.
    Worker,
}

/// What a command reads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum StdinArg {
    /// Ours if it is a pipe or a file; nothing if it is a terminal and the command has none.
    #[default]
    Auto,
    /// Nothing.
    None,
    /// Ours, whatever it is.
    Inherit,
}

/// Whether the command gets a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TtyArg {
    /// If our own input and output are one.
    Auto,
    /// Also without one of ours.
    Always,
    /// No.
    Never,
}
