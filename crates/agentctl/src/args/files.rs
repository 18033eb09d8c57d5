//! Options about files: the workspace, mounts, the working directory.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use exec_core::MountSpec;

/// What of the host's files the command sees and may write.
#[derive(Debug, Args)]
#[command(next_help_heading = "Files")]
pub(crate) struct FileArgs {
    /// The directory to work on; inside it has the same path. Default: the current directory.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,

    /// Whether the workspace may be written. Default: rw, or ro when --write-path is given.
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) workspace_mode: Option<ModeArg>,

    /// A path in a read-only workspace that may be written all the same; may be given again.
    #[arg(long, value_name = "PATH")]
    pub(crate) write_path: Vec<PathBuf>,

    /// Show more of the host, read-only unless said otherwise.
    ///
    /// SRC, SRC:DST or SRC:DST:ro|rw; may be given again.
    #[arg(long, value_name = "SRC:DST[:ro|rw]")]
    pub(crate) mount: Vec<MountSpec>,

    /// Accept mounts and workspaces that give the host away.
    ///
    /// These are /, /etc, home directories, /proc, engine sockets and the like.
    #[arg(long)]
    pub(crate) allow_dangerous_mounts: bool,

    /// Working directory, in the workspace or a mount. Default: the workspace.
    #[arg(short = 'C', long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
}

/// Whether the workspace may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeArg {
    /// Everything in it.
    Rw,
    /// Nothing but the --write-path places.
    Ro,
}
