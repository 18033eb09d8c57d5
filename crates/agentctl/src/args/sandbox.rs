//! Options that choose the sandbox and its walls.

use clap::{Args, ValueEnum};
use exec_config::values::user;
use exec_core::{Gpus, IsolationLevel, Network, User};

/// Which sandbox, and what it shuts out.
#[derive(Debug, Args)]
#[command(next_help_heading = "Sandbox")]
pub(crate) struct SandboxArgs {
    /// Which sandbox to use [default: auto].
    ///
    /// One asked for by name is used or the run is refused. `auto` takes docker, else podman, else local, and warns when it
    /// had to fall back: what is missing and how to get it.
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) sandbox: Option<SandboxArg>,

    /// With `auto`: refuse, rather than fall back from the first choice.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) no_fallback: Option<bool>,

    /// Refuse to run with less isolation than this.
    ///
    /// From weak to strong: process-group, subreaper, namespaces, container, vm.
    #[arg(long, value_name = "LEVEL")]
    pub(crate) min_isolation: Option<IsolationLevel>,

    /// The image to run in, for containers. Default: host.
    ///
    /// `host` is this machine's own programs, read-only; it needs no registry. `build` is built from the workspace's
    /// Dockerfile.dev or Dockerfile, and again when that changes: what the file says is carried out by the engine, with a
    /// network. Any other image that is missing is pulled.
    #[arg(long, value_name = "IMAGE")]
    pub(crate) image: Option<String>,

    /// Graphics processors the command may use, for containers. Default: none.
    #[arg(long, value_name = "all|N")]
    pub(crate) gpus: Option<Gpus>,

    /// The command's network. Default: none.
    ///
    /// `none` is a loopback of its own, `bridge` a way out (for containers), `host` this machine's own network.
    #[arg(long, value_name = "none|bridge|host")]
    pub(crate) network: Option<Network>,

    /// Run as this user. Default: the owner of the workspace.
    ///
    /// A group that is left out has the user's number.
    #[arg(long, value_name = "UID[:GID]", value_parser = user)]
    pub(crate) user: Option<User>,

    /// What the local sandbox is made of.
    #[arg(long, value_enum, value_name = "KIND", default_value_t, hide = true)]
    pub(crate) walls: WallsArg,
}

/// A sandbox by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SandboxArg {
    /// The best there is.
    Auto,
    /// Namespaces on this host.
    Local,
    /// A Docker container.
    Docker,
    /// A Podman container.
    Podman,
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
