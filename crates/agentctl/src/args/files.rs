//! Options about files that only a command line has: the workspace and the working directory.

use std::path::PathBuf;

use clap::Args;

/// Where the command works.
#[derive(Debug, Args)]
#[command(next_help_heading = super::FILES)]
pub(crate) struct FileArgs {
    /// Work on this directory, which has the same path inside [default: the current one].
    #[arg(short, long, value_name = "DIR", display_order = 0)]
    pub(crate) workspace: Option<PathBuf>,

    /// Start in this directory of the workspace or a mount [default: the workspace].
    #[arg(short = 'C', long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,

    /// Accept mounts and workspaces that give the host away.
    ///
    /// These are /, /etc, home directories, /proc, engine sockets and the like.
    #[arg(long)]
    pub(crate) allow_dangerous_mounts: bool,
}
