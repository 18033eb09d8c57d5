//! Where a Podman service may listen. Nothing is connected to here: whoever does goes through the list.

use std::fmt;
use std::path::PathBuf;

use exec_container::Product;
use exec_core::{ErrorKind, Result};

use crate::connection;
use crate::{Candidate, Endpoint, HostEnvironment, System};

/// Why a service may listen at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The configuration says so.
    Configured,
    /// The variable `CONTAINER_HOST` says so.
    ContainerHost,
    /// The connection of this name, which `CONTAINER_CONNECTION` chose, says so.
    Connection(String),
    /// The system's service is there.
    Rootful,
    /// A user's own service is there.
    Rootless,
    /// A virtual machine with Podman in it is reached there.
    Machine,
}

impl Origin {
    /// Whether somebody said so: then it is this place or none.
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
/// 1. the address that is `configured`;
/// 2. `CONTAINER_HOST`;
/// 3. the connection of `CONTAINER_CONNECTION`, from `podman-connections.json`;
/// 4. on Linux, root's `/run/podman/podman.sock`, and for anybody else `$XDG_RUNTIME_DIR/podman/podman.sock` or
///    `/run/user/<uid>/podman/podman.sock` where that is not this user's;
/// 5. the machine's: on macOS `$TMPDIR/podman/podman-machine-default-api.sock` and
///    `~/.local/share/containers/podman/machine/podman.sock`, on Windows the pipe `//./pipe/podman-machine-default`.
///
/// If one of the first three is given it is the only one, right or wrong. An ordinary user's place is their own, as it is
/// for Podman's own program: the system's service would make root's containers of their commands. Docker's sockets are not
/// among them, not even where Podman listens there.
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
