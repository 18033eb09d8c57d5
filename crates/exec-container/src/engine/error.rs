//! Explains an engine's refusals to people.

use std::fmt;
use std::io;

use bollard::errors::Error as ClientError;
use exec_core::{Error, ErrorKind};

/// Context key for an engine's status code, which tells refusals apart.
const STATUS: &str = "status";

/// The error of a verb that failed on an object.
pub(super) fn explain(backend: &str, verb: &'static str, object: &str, why: ClientError) -> Error {
    match why {
        ClientError::DockerResponseServerError { status_code, message } => {
            refused(backend, verb, object, status_code, &message)
        }
        ClientError::DockerStreamError { error } => refused(backend, verb, object, 500, &error),
        ClientError::RequestTimeoutError => no_answer(backend, verb, object),
        ClientError::IOError { .. }
        | ClientError::SocketNotFoundError(_)
        | ClientError::HyperResponseError { .. }
        | ClientError::HyperLegacyError { .. } => broken(backend, verb, object, why),
        other => Error::new(
            ErrorKind::Engine,
            "engine",
            format!("the engine's answer makes no sense; can't {verb} {object}"),
        )
        .with_backend(backend)
        .with_source(other)
        .with_remedy("check which program listens on the engine's socket, and its version"),
    }
}

/// The error of an engine that took too long.
pub(super) fn no_answer(backend: &str, verb: &'static str, object: &str) -> Error {
    Error::new(
        ErrorKind::Engine,
        "engine",
        format!("the engine did not answer in time; can't {verb} {object}"),
    )
    .with_backend(backend)
    .with_remedy(format!("see whether it hangs (`{backend} ps`), and restart it"))
}

fn broken(backend: &str, verb: &'static str, object: &str, why: ClientError) -> Error {
    let message = if nobody_listens(&why) {
        format!("the engine is gone; can't {verb} {object}")
    } else {
        format!("the connection to the engine broke; can't {verb} {object}")
    };
    Error::new(ErrorKind::Engine, "engine", message)
        .with_backend(backend)
        .with_source(Beneath(why))
        .with_remedy(format!("see whether the engine runs (`{backend} info`) and start it"))
}

/// A client's error that reads as its innermost cause; the layers above are internals of the client.
#[derive(Debug)]
struct Beneath(ClientError);

impl fmt::Display for Beneath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        chain(&self.0).last().map_or(Ok(()), |last| write!(f, "{last}"))
    }
}

impl std::error::Error for Beneath {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

fn chain<'a>(why: &'a ClientError) -> impl Iterator<Item = &'a (dyn std::error::Error + 'static)> {
    let first: &'a (dyn std::error::Error + 'static) = why;
    std::iter::successors(Some(first), |error| error.source())
}

fn nobody_listens(why: &ClientError) -> bool {
    if let ClientError::SocketNotFoundError(_) = why {
        return true;
    }
    let mut of_the_system = chain(why).filter_map(|error| error.downcast_ref::<io::Error>());
    of_the_system
        .any(|error| matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused))
}

/// Placeholder for the engine's CLI in a remedy.
const PROGRAM: &str = "{engine}";

/// What engines report, the kind of that failure, and its remedy. The first match counts.
const REFUSALS: [(&str, ErrorKind, &str); 14] = [
    (
        "bind source path does not exist",
        ErrorKind::InvalidInput,
        "the engine can't see this path: share it with the engine (Docker Desktop: Settings, Resources, File sharing), \
         or run where the engine shares this machine's files",
    ),
    (
        "is not shared from the host",
        ErrorKind::InvalidInput,
        "add the path in Docker Desktop under Settings, Resources, File sharing",
    ),
    ("mounts denied", ErrorKind::InvalidInput, "share the path with the engine in its settings"),
    (
        "no space left on device",
        ErrorKind::ResourceExhausted,
        "free disk space (`{engine} system df`, `{engine} system prune`)",
    ),
    (
        "cannot allocate memory",
        ErrorKind::ResourceExhausted,
        "end other programs, or give the engine more memory",
    ),
    ("too many open files", ErrorKind::ResourceExhausted, "raise the engine's limit of open files"),
    ("minimum memory limit", ErrorKind::InvalidInput, "raise --memory"),
    ("range of cpus", ErrorKind::InvalidInput, "lower --cpus"),
    (
        "could not select device driver",
        ErrorKind::Unsupported,
        "install the NVIDIA container toolkit, or leave --gpus out",
    ),
    (
        "unknown or invalid runtime",
        ErrorKind::Unsupported,
        "install the runtime and name it in the engine's configuration",
    ),
    (
        "keep-id requires additional uids",
        ErrorKind::Unavailable,
        "give yourself a range of user ids with `sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535 \
         $USER` and `podman system migrate`",
    ),
    (
        "cgroups in hybrid mode not supported",
        ErrorKind::Unavailable,
        "install runc, and start the service with `podman --runtime runc system service`",
    ),
    (
        "setting rlimit",
        ErrorKind::Unavailable,
        "raise the hard limits of whoever starts the engine (`ulimit -Hn`, `ulimit -Hu`)",
    ),
    ("permission denied", ErrorKind::PermissionDenied, "see which path or right the message names"),
];

fn refused(backend: &str, verb: &'static str, object: &str, status: u16, message: &str) -> Error {
    let text = message.trim();
    let lower = text.to_lowercase();
    let known = REFUSALS.iter().find(|(says, ..)| lower.contains(says));
    let (kind, remedy) = match (known, status) {
        (Some((_, kind, remedy)), _) => (*kind, *remedy),
        (None, 404) if lower.contains("no such image") || lower.contains("image not known") => {
            (ErrorKind::ImageNotFound, "pull or build the image, or name another with --image")
        }
        (None, 404) => (ErrorKind::NotFound, "somebody removed it; try again"),
        (None, 403) => (
            ErrorKind::PermissionDenied,
            "an authorization plugin of the engine refuses this; ask who runs it",
        ),
        _ => (ErrorKind::Engine, "see the engine's log (`journalctl -u {engine}`)"),
    };
    Error::new(kind, "engine", format!("the engine refused to {verb} {object}: {text}"))
        .with_backend(backend)
        .with_context(STATUS, status)
        .with_remedy(remedy.replace(PROGRAM, backend))
}

fn status(error: &Error) -> Option<&str> {
    error.context().iter().find(|(key, _)| *key == STATUS).map(|(_, status)| status.as_str())
}

/// The engine is gone, and every request to it fails.
pub(crate) fn is_engine_gone(error: &Error) -> bool {
    let cause = error.cause().and_then(|cause| cause.downcast_ref::<Beneath>());
    cause.is_some_and(|Beneath(why)| nobody_listens(why))
}

/// The object does not exist.
pub(crate) fn is_not_found(error: &Error) -> bool {
    status(error) == Some("404")
}

/// The object is being changed by another client.
pub(crate) fn is_conflict(error: &Error) -> bool {
    status(error) == Some("409")
}

/// Containers use the network: neither engine reports that with the proper status.
pub(crate) fn is_in_use(error: &Error) -> bool {
    let text = error.to_string();
    is_conflict(error) || ["has active endpoints", "is being used"].iter().any(|says| text.contains(says))
}

/// The engine does not have the image.
pub(crate) fn is_missing_image(error: &Error) -> bool {
    error.kind() == ErrorKind::ImageNotFound
}

/// The engine can't see this path of ours.
pub(crate) fn is_missing_bind_source(error: &Error, path: &str) -> bool {
    let text = error.to_string();
    text.contains("bind source path does not exist") && text.contains(path)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(
        400,
        "invalid mount config for type \"bind\": bind source path does not exist: /x",
        ErrorKind::InvalidInput
    )]
    #[case(404, "No such image: none:latest", ErrorKind::ImageNotFound)]
    #[case(404, "No such container: x", ErrorKind::NotFound)]
    #[case(500, "write /var/lib/docker/x: no space left on device", ErrorKind::ResourceExhausted)]
    #[case(500, "fork/exec /usr/bin/runc: cannot allocate memory", ErrorKind::ResourceExhausted)]
    #[case(500, "open /proc/self/fd: too many open files", ErrorKind::ResourceExhausted)]
    #[case(400, "Minimum memory limit allowed is 6MB", ErrorKind::InvalidInput)]
    #[case(
        500,
        "container create: keep-id requires additional UIDs or GIDs defined in /etc/subuid",
        ErrorKind::Unavailable
    )]
    #[case(500, "crun: cgroups in hybrid mode not supported: OCI runtime error", ErrorKind::Unavailable)]
    #[case(500, "something else", ErrorKind::Engine)]
    fn a_refusal_has_a_kind_and_a_remedy(
        #[case] status_code: u16,
        #[case] message: &str,
        #[case] kind: ErrorKind,
    ) {
        let why = ClientError::DockerResponseServerError { status_code, message: message.into() };
        let error = explain("docker", "create", "x", why);
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.remedy().is_some() && error.to_string().contains(message));
    }
}
