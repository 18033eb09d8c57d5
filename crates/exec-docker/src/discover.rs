//! Lists the places where a Docker engine may be. Connects to none: the caller tries them in order.

use std::fmt;
use std::path::{Path, PathBuf};

use exec_container::{Product, bad_address};
use exec_core::{Error, ErrorKind, Remedy, Result};

use crate::context::{self, Context, ContextError, Transport};
use crate::{Candidate, Endpoint, EndpointError, HostEnvironment, NAME, System};

/// Why an engine may be at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The configuration names it.
    Configured,
    /// The variable `DOCKER_HOST` names it.
    DockerHost,
    /// The selected context, with this name, has it.
    Context(String),
    /// Docker's default.
    Default,
    /// The place of a rootless engine.
    Rootless,
    /// The place of Docker Desktop.
    Desktop,
}

impl Origin {
    /// Whether the user named this place: then no other is tried.
    pub fn is_authoritative(&self) -> bool {
        matches!(self, Self::Configured | Self::DockerHost | Self::Context(_))
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Configured => f.write_str("the configuration"),
            Self::DockerHost => f.write_str("DOCKER_HOST"),
            Self::Context(name) => write!(f, "context `{name}`"),
            Self::Default => f.write_str("Docker's default"),
            Self::Rootless => f.write_str("rootless Docker"),
            Self::Desktop => f.write_str("Docker Desktop"),
        }
    }
}

/// The places where a Docker engine may be, in the order in which to try them:
///
/// 1. the `configured` address;
/// 2. `DOCKER_HOST`;
/// 3. the context of `DOCKER_CONTEXT`, else of `currentContext` in `$DOCKER_CONFIG/config.json` or
///    `~/.docker/config.json`; the context `default` means to go on;
/// 4. `/var/run/docker.sock`, on Windows the pipe `//./pipe/docker_engine`;
/// 5. rootless Docker: `$XDG_RUNTIME_DIR/docker.sock`, or `/run/user/<uid>/docker.sock` if that is unset or another's;
/// 6. Docker Desktop: `~/.docker/run/docker.sock` on macOS, `~/.docker/desktop/docker.sock` on Linux.
///
/// If one of the first three is given it is the only one, right or wrong: a user who named an engine does not want
/// commands to run on another. The last three are guesses, and the caller takes the first that answers. The `docker`
/// CLI knows only the fourth, so that comes first: users with access to it (root, the group `docker`) get the engine
/// that `docker` uses; the others get their own.
pub fn candidates(configured: Option<&str>, around: &dyn HostEnvironment) -> Result<Vec<Candidate>> {
    if let Some(address) = configured {
        return only(address, Origin::Configured, Transport::Plain);
    }
    if let Some(address) = around.variable("DOCKER_HOST").filter(|address| !address.is_empty()) {
        return only(&address.to_string_lossy(), Origin::DockerHost, transport(around));
    }
    let home = around.user_dirs().home;
    match context::chosen(around, home.as_deref()).map_err(of_context)? {
        Some(Context { name, host, transport }) => only(&host, Origin::Context(name), transport),
        None => Ok(usual_places(around, home.as_deref())),
    }
}

/// The one named place. Sockets and pipes don't use TLS, whatever the settings say.
fn only(address: &str, origin: Origin, transport: Transport) -> Result<Vec<Candidate>> {
    let malformed =
        if origin == Origin::Configured { ErrorKind::InvalidInput } else { ErrorKind::Unavailable };
    let candidate = Candidate::named(address, origin, Product::Docker, malformed)?;
    match (&candidate.endpoint, transport) {
        (Endpoint::Tcp { host, .. }, Transport::Tls) => {
            let error = EndpointError::Tls { host: host.clone() };
            Err(bad_address(&error, &candidate.origin, Product::Docker, malformed))
        }
        _ => Ok(vec![candidate]),
    }
}

/// The TLS variables that go with `DOCKER_HOST`. Docker treats any value as a yes.
fn transport(around: &dyn HostEnvironment) -> Transport {
    let is_set = |name: &&str| around.variable(name).is_some_and(|value| !value.is_empty());
    if ["DOCKER_TLS_VERIFY", "DOCKER_TLS"].iter().any(is_set) { Transport::Tls } else { Transport::Plain }
}

fn usual_places(around: &dyn HostEnvironment, home: Option<&Path>) -> Vec<Candidate> {
    let unix = |path: PathBuf, origin| Candidate { endpoint: Endpoint::Unix(path), origin };
    let default = unix("/var/run/docker.sock".into(), Origin::Default);
    let desktop = |below: &str| home.map(|home| unix(home.join(below), Origin::Desktop));
    match around.system() {
        System::Windows => vec![Candidate {
            endpoint: Endpoint::NamedPipe("//./pipe/docker_engine".to_owned()),
            origin: Origin::Default,
        }],
        System::MacOs => [default].into_iter().chain(desktop(".docker/run/docker.sock")).collect(),
        System::Linux => {
            let rootless = rootless(around).map(|path| unix(path, Origin::Rootless));
            [default].into_iter().chain(rootless).chain(desktop(".docker/desktop/docker.sock")).collect()
        }
    }
}

fn rootless(around: &dyn HostEnvironment) -> Option<PathBuf> {
    around.user_dirs().runtime.map(|path| path.join("docker.sock"))
}

fn of_context(error: ContextError) -> Error {
    let remedy = match &error {
        ContextError::Unreadable { .. } => "correct the file, or say with DOCKER_HOST where the engine is",
        ContextError::Missing { .. } | ContextError::NoEngine { .. } => {
            "set DOCKER_CONTEXT, or `docker context use`, to one that `docker context ls` lists"
        }
    };
    let reported = Error::new(ErrorKind::Unavailable, "find engine", error.to_string())
        .with_backend(NAME)
        .with_remedy(Remedy::engine(remedy));
    match error {
        ContextError::Unreadable { source, .. } => reported.with_source(source),
        ContextError::Missing { .. } | ContextError::NoEngine { .. } => reported,
    }
}

#[cfg(test)]
mod tests;
