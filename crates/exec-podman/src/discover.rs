//! Lists the places where a Podman service may listen. Connects to none: the caller tries them in order.

use std::fmt;
use std::path::PathBuf;

use exec_container::Product;
use exec_core::{ErrorKind, Result};

use crate::connection;
use crate::{Candidate, Endpoint, HostEnvironment, System};

/// Why a service may listen at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The configuration names it.
    Configured,
    /// The variable `CONTAINER_HOST` names it.
    ContainerHost,
    /// The connection of this name, selected by `CONTAINER_CONNECTION`, has it.
    Connection(String),
    /// The place of the system's service.
    Rootful,
    /// The place of a user's own service.
    Rootless,
    /// The place of a virtual machine with Podman.
    Machine,
}

impl Origin {
    /// Whether the user named this place: then no other is tried.
    pub fn is_authoritative(&self) -> bool {
        matches!(self, Self::Configured | Self::ContainerHost | Self::Connection(_))
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Configured => f.write_str("the configuration"),
            Self::ContainerHost => f.write_str("CONTAINER_HOST"),
            Self::Connection(name) => write!(f, "connection `{name}`"),
            Self::Rootful => f.write_str("the system's Podman"),
            Self::Rootless => f.write_str("rootless Podman"),
            Self::Machine => f.write_str("Podman machine"),
        }
    }
}

/// The places where a Podman service may listen, in the order in which to try them:
///
/// 1. the `configured` address;
/// 2. `CONTAINER_HOST`;
/// 3. the connection of `CONTAINER_CONNECTION`, from `podman-connections.json`;
/// 4. on Linux, root's `/run/podman/podman.sock`, for other users `$XDG_RUNTIME_DIR/podman/podman.sock` or
///    `/run/user/<uid>/podman/podman.sock` if that is unset or another user's;
/// 5. the machine's: on macOS `$TMPDIR/podman/podman-machine-default-api.sock` and
///    `~/.local/share/containers/podman/machine/podman.sock`, on Windows the pipe `//./pipe/podman-machine-default`.
///
/// If one of the first three is given it is the only one, right or wrong. Ordinary users get only their own place, as
/// with the `podman` CLI: the system's service would run their commands in root's containers. Docker's sockets are
/// never listed, not even if Podman listens there.
pub fn candidates(configured: Option<&str>, around: &dyn HostEnvironment) -> Result<Vec<Candidate>> {
    if let Some(address) = configured {
        return only(address, Origin::Configured, ErrorKind::InvalidInput);
    }
    let variable = |name| around.variable(name).filter(|value| !value.is_empty());
    if let Some(address) = variable("CONTAINER_HOST") {
        return only(&address.to_string_lossy(), Origin::ContainerHost, ErrorKind::Unavailable);
    }
    if let Some(name) = variable("CONTAINER_CONNECTION") {
        let name = name.to_string_lossy().into_owned();
        let address = connection::address(around, &name)?;
        return only(&address, Origin::Connection(name), ErrorKind::Unavailable);
    }
    Ok(usual_places(around))
}

fn only(address: &str, origin: Origin, malformed: ErrorKind) -> Result<Vec<Candidate>> {
    Candidate::named(address, origin, Product::Podman, malformed).map(|candidate| vec![candidate])
}

fn usual_places(around: &dyn HostEnvironment) -> Vec<Candidate> {
    let unix = |path: PathBuf, origin| Candidate { endpoint: Endpoint::Unix(path), origin };
    match around.system() {
        System::Linux if around.user_id() == Some(0) => {
            vec![unix("/run/podman/podman.sock".into(), Origin::Rootful)]
        }
        System::Linux => {
            let directory = around.user_dirs().runtime.into_iter();
            directory.map(|path| unix(path.join("podman/podman.sock"), Origin::Rootless)).collect()
        }
        System::MacOs => {
            let temporary = around.variable("TMPDIR").map(PathBuf::from);
            let api = temporary.map(|path| path.join("podman/podman-machine-default-api.sock"));
            let home = around.user_dirs().home;
            let link = home.map(|home| home.join(".local/share/containers/podman/machine/podman.sock"));
            api.into_iter().chain(link).map(|path| unix(path, Origin::Machine)).collect()
        }
        System::Windows => vec![Candidate {
            endpoint: Endpoint::NamedPipe("//./pipe/podman-machine-default".to_owned()),
            origin: Origin::Machine,
        }],
    }
}

#[cfg(test)]
mod tests;
