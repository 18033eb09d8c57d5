//! What the local sandbox is made of, for tests.

use clap::{Args, ValueEnum};

/// The walls of the local sandbox.
#[derive(Debug, Args)]
pub(crate) struct WallsArgs {
    /// What the local sandbox is made of.
    #[arg(long, value_enum, value_name = "KIND", default_value_t, hide = true)]
    pub(crate) walls: WallsArg,
}

/// Walls of the local sandbox.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum WallsArg {
    /// Namespaces where the host allows them.
    #[default]
    Auto,
    /// Namespaces or nothing.
    Namespaces,
    /// A supervisor without namespaces.
    Subreaper,
    /// A process group.
    ProcessGroup,
}
