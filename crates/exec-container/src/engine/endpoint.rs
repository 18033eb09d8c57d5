//! Engine addresses in Docker's notation. This module reads no environment and connects to nothing.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::Product;

/// The address of an engine.
///
/// ```
/// # use exec_container::Endpoint;
/// let endpoint: Endpoint = "tcp://build.example".parse()?;
/// assert_eq!(endpoint, Endpoint::Tcp { host: "build.example".to_owned(), port: 2375 });
/// assert_eq!(endpoint.to_string(), "tcp://build.example:2375");
/// # Ok::<(), exec_container::EndpointError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Endpoint {
    /// A Unix socket.
    Unix(PathBuf),
    /// A TCP port without TLS.
    Tcp {
        /// A name or address; an IPv6 address without its brackets.
        host: String,
        /// Its port.
        port: u16,
    },
    /// A Windows named pipe, such as `//./pipe/docker_engine`.
    NamedPipe(String),
}

/// The default port of engines without TLS.
const ENGINE_PORT: u16 = 2375;

const HTTP_PORT: u16 = 80;

impl FromStr for Endpoint {
    type Err = EndpointError;

    /// Accepts what Docker accepts: `unix://`, `tcp://`, `http://` and `npipe://`, or a path or `host:port` without
    /// a scheme.
    fn from_str(address: &str) -> Result<Self, EndpointError> {
        let address = address.trim();
        let malformed = |why| EndpointError::Malformed { address: address.to_owned(), why };
        match address.split_once("://") {
            None if address.is_empty() => Err(malformed("it is empty")),
            None if address.starts_with('/') => Ok(Self::Unix(address.into())),
            None => tcp(address, ENGINE_PORT).map_err(malformed),
            Some(("unix", path)) if path.starts_with('/') => Ok(Self::Unix(path.into())),
            Some(("unix", _)) => Err(malformed("the path of a socket begins with `/`")),
            Some(("tcp", rest)) => tcp(rest, ENGINE_PORT).map_err(malformed),
            Some(("http", rest)) => tcp(rest, HTTP_PORT).map_err(malformed),
            Some(("npipe", pipe)) if !pipe.is_empty() => Ok(Self::NamedPipe(pipe.replace('\\', "/"))),
            Some(("npipe", _)) => Err(malformed("the pipe has no name")),
            Some(("https", rest)) => Err(EndpointError::Tls { host: host_of(rest).to_owned() }),
            Some(("ssh", target)) => {
                Err(EndpointError::Ssh { target: target.trim_end_matches('/').to_owned() })
            }
            Some(_) => Err(malformed("engines have no such scheme")),
        }
    }
}

fn tcp(rest: &str, default_port: u16) -> Result<Endpoint, &'static str> {
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    if rest.contains(['/', '@', '?', '#']) || rest.contains(char::is_whitespace) {
        return Err("there is more to it than host and port");
    }
    let (host, port) = split_port(rest);
    let host = match host.strip_prefix('[') {
        Some(host) => host.strip_suffix(']').ok_or("a bracket is not closed")?,
        None if host.contains(':') => return Err("an IPv6 address stands in brackets"),
        None => host,
    };
    if host.is_empty() {
        return Err("it names no host");
    }
    let port = match port {
        None => default_port,
        Some(port) => {
            port.parse().ok().filter(|port| *port != 0).ok_or("its port is not a number from 1 to 65535")?
        }
    };
    Ok(Endpoint::Tcp { host: host.to_owned(), port })
}

/// Splits off the port: the part after the last colon outside of brackets.
fn split_port(rest: &str) -> (&str, Option<&str>) {
    match rest.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (rest, None),
    }
}

fn host_of(rest: &str) -> &str {
    split_port(rest.split('/').next().unwrap_or_default()).0
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix://{}", path.display()),
            Self::Tcp { host, port } if host.contains(':') => write!(f, "tcp://[{host}]:{port}"),
            Self::Tcp { host, port } => write!(f, "tcp://{host}:{port}"),
            Self::NamedPipe(pipe) => write!(f, "npipe://{pipe}"),
        }
    }
}

/// An address of an engine that this program can't talk to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndpointError {
    /// It is not an address.
    Malformed {
        /// The address as given.
        address: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// It needs SSH, for which the `docker` CLI runs another program.
    Ssh {
        /// User, host and port, as in the address.
        target: String,
    },
    /// It needs TLS, which is not built in.
    Tls {
        /// The host.
        host: String,
    },
}

impl EndpointError {
    /// What to do, as a sentence that starts with a verb.
    pub fn remedy(&self, product: Product) -> String {
        match self {
            Self::Malformed { .. } => {
                "write it as unix:///path, tcp://host:port or npipe:////./pipe/name".to_owned()
            }
            Self::Ssh { target } => forward(&ssh_arguments(target), product),
            Self::Tls { host } => forward(host, product),
        }
    }
}

/// SSH forwards a remote socket, with better keys than TLS would need.
fn forward(destination: &str, product: Product) -> String {
    let (local, remote, variable) = match product {
        Product::Docker => (".docker/remote.sock", "/var/run/docker.sock", "DOCKER_HOST"),
        Product::Podman => (".podman-remote.sock", "/run/podman/podman.sock", "CONTAINER_HOST"),
    };
    format!(
        "forward its socket with `ssh -nNT -L ~/{local}:{remote} {destination}` and set {variable}=unix://$HOME/{local}"
    )
}

/// The path that may follow is that of the remote socket, which is rarely set.
fn ssh_arguments(target: &str) -> String {
    let authority = target.split('/').next().unwrap_or_default();
    match split_port(authority) {
        (destination, Some(port)) => format!("-p {port} {destination}"),
        (destination, None) => destination.to_owned(),
    }
}

impl fmt::Display for EndpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed { address, why } => {
                write!(f, "`{address}` is not the address of an engine: {why}")
            }
            Self::Ssh { target } => {
                write!(f, "the engine at `ssh://{target}` is reached by SSH, which is not built in")
            }
            Self::Tls { host } => write!(f, "the engine at `{host}` asks for TLS, which is not built in"),
        }
    }
}

impl std::error::Error for EndpointError {}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn at(host: &str, port: u16) -> Endpoint {
        Endpoint::Tcp { host: host.to_owned(), port }
    }

    #[rstest]
    #[case::socket("unix:///var/run/docker.sock", Endpoint::Unix("/var/run/docker.sock".into()))]
    #[case::spaces("unix:///my sockets/docker.sock", Endpoint::Unix("/my sockets/docker.sock".into()))]
    #[case::path(" /run/docker.sock\n", Endpoint::Unix("/run/docker.sock".into()))]
    #[case::port("tcp://10.0.0.7:4243", at("10.0.0.7", 4243))]
    #[case::no_port("tcp://build.example/", at("build.example", 2375))]
    #[case::http("http://localhost:2375", at("localhost", 2375))]
    #[case::http_without_port("http://localhost", at("localhost", 80))]
    #[case::no_scheme("localhost:2375", at("localhost", 2375))]
    #[case::only_a_host("docker", at("docker", 2375))]
    #[case::ipv6("tcp://[::1]:2375", at("::1", 2375))]
    #[case::ipv6_without_port("tcp://[fe80::1%eth0]", at("fe80::1%eth0", 2375))]
    #[case::pipe("npipe:////./pipe/docker_engine", Endpoint::NamedPipe("//./pipe/docker_engine".to_owned()))]
    #[case::backslashes(r"npipe://\\.\pipe\docker_engine", Endpoint::NamedPipe("//./pipe/docker_engine".to_owned()))]
    fn what_docker_takes_is_taken(#[case] address: &str, #[case] endpoint: Endpoint) {
        assert_eq!(address.parse(), Ok(endpoint.clone()));
        assert_eq!(endpoint.to_string().parse(), Ok(endpoint));
    }

    #[rstest]
    #[case::empty("", "it is empty")]
    #[case::relative("unix://docker.sock", "the path of a socket begins with `/`")]
    #[case::no_path("unix://", "the path of a socket begins with `/`")]
    #[case::no_host("tcp://:2375", "it names no host")]
    #[case::nothing("tcp://", "it names no host")]
    #[case::word_for_port("tcp://host:docker", "its port is not a number from 1 to 65535")]
    #[case::port_zero("tcp://host:0", "its port is not a number from 1 to 65535")]
    #[case::port_too_high("tcp://host:65536", "its port is not a number from 1 to 65535")]
    #[case::no_brackets("tcp://::1:2375", "an IPv6 address stands in brackets")]
    #[case::open_bracket("tcp://[::1", "a bracket is not closed")]
    #[case::below("tcp://host:2375/v1.41", "there is more to it than host and port")]
    #[case::password("tcp://me:secret@host:2375", "there is more to it than host and port")]
    #[case::pipe_without_name("npipe://", "the pipe has no name")]
    #[case::other("ftp://host", "engines have no such scheme")]
    #[case::descriptor("fd://", "engines have no such scheme")]
    fn what_is_no_address_is_told_why(#[case] address: &str, #[case] expected: &str) {
        match address.parse::<Endpoint>() {
            Err(EndpointError::Malformed { why, .. }) => assert_eq!(why, expected),
            other => panic!("{other:?}"),
        }
    }

    #[rstest]
    #[case("ssh://me@build.example", "me@build.example")]
    #[case("ssh://me@build.example:2222/run/docker.sock", "-p 2222 me@build.example")]
    #[case("https://build.example:2376/", "build.example")]
    fn what_is_not_built_in_comes_with_a_way_around(#[case] address: &str, #[case] destination: &str) {
        let error = address.parse::<Endpoint>().unwrap_err();
        let remedy = error.remedy(Product::Docker);
        assert!(
            remedy.contains(&format!(":/var/run/docker.sock {destination}` and set DOCKER_HOST")),
            "{remedy}"
        );
        let remedy = error.remedy(Product::Podman);
        assert!(remedy.contains(&format!("podman.sock {destination}` and set CONTAINER_HOST")), "{remedy}");
    }
}
