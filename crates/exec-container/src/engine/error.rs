//! Explains an engine's refusals to people.

use std::fmt;
use std::io;

use bollard::errors::Error as ClientError;
use exec_core::{Change, Error, ErrorKind, Remedy};

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
        .with_remedy(Remedy::engine("check which program listens on the engine's socket, and its version")),
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
    .with_remedy(Remedy::engine(format!("see whether it hangs (`{backend} ps`), and restart it")))
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
        .with_remedy(Remedy::engine(format!("see whether the engine runs (`{backend} info`) and start it")))
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

/// A refusal that engines report in words only, its kind, and its remedy.
struct Known {
    says: &'static str,
    kind: ErrorKind,
    /// Takes the name of the engine's CLI.
    remedy: fn(&str) -> Remedy,
}

/// The first match counts.
const REFUSALS: [Known; 14] = [
    Known {
        says: BIND_SOURCE,
        kind: ErrorKind::InvalidInput,
        remedy: |_| {
            Remedy::engine(
                "share the path with the engine, which can't see it (Docker Desktop: Settings, Resources, File sharing)",
            )
            .or(Remedy::engine("run where the engine shares this machine's files"))
        },
    },
    Known {
        says: "is not shared from the host",
        kind: ErrorKind::InvalidInput,
        remedy: |_| Remedy::engine("add the path in Docker Desktop under Settings, Resources, File sharing"),
    },
    Known {
        says: "mounts denied",
        kind: ErrorKind::InvalidInput,
        remedy: |_| Remedy::engine("share the path with the engine in its settings"),
    },
    Known {
        says: "no space left on device",
        kind: ErrorKind::ResourceExhausted,
        remedy: |cli| Remedy::engine(format!("free disk space (`{cli} system df`, `{cli} system prune`)")),
    },
    Known {
        says: "cannot allocate memory",
        kind: ErrorKind::ResourceExhausted,
        remedy: |_| Remedy::host("end other programs").or(Remedy::engine("give the engine more memory")),
    },
    Known {
        says: "too many open files",
        kind: ErrorKind::ResourceExhausted,
        remedy: |_| Remedy::engine("raise the engine's limit of open files"),
    },
    Known {
        says: "minimum memory limit",
        kind: ErrorKind::InvalidInput,
        remedy: |_| Change::raise("memory").into(),
    },
    Known { says: "range of cpus", kind: ErrorKind::InvalidInput, remedy: |_| Change::lower("cpus").into() },
    Known {
        says: "could not select device driver",
        kind: ErrorKind::Unsupported,
        remedy: |_| Remedy::engine("install the NVIDIA container toolkit").or(Change::leave_out("gpus")),
    },
    Known {
        says: "unknown or invalid runtime",
        kind: ErrorKind::Unsupported,
        remedy: |_| Remedy::engine("install the runtime and name it in the engine's configuration"),
    },
    Known {
        says: "keep-id requires additional uids",
        kind: ErrorKind::Unavailable,
        remedy: |_| {
            Remedy::host(
                "give yourself a range of user ids with `sudo usermod --add-subuids 100000-165535 --add-subgids \
                 100000-165535 $USER` and `podman system migrate`",
            )
        },
    },
    Known {
        says: "cgroups in hybrid mode not supported",
        kind: ErrorKind::Unavailable,
        remedy: |_| {
            Remedy::engine("install runc, and start the service with `podman --runtime runc system service`")
        },
    },
    Known {
        says: "setting rlimit",
        kind: ErrorKind::Unavailable,
        remedy: |_| Remedy::host("raise the hard limits of the engine's user (`ulimit -Hn`, `ulimit -Hu`)"),
    },
    Known {
        says: "permission denied",
        kind: ErrorKind::PermissionDenied,
        remedy: |_| Remedy::engine("see which path or right the message names"),
    },
];

/// The start of an engine's report that it can't see a path; the path follows.
const BIND_SOURCE: &str = "bind source path does not exist";

/// How engines report that containers use a network: neither has the proper status for it.
const IN_USE: [&str; 2] = ["has active endpoints", "is being used"];

/// An engine's refusal.
#[derive(Debug)]
struct Refused {
    status: u16,
    says: String,
    why: Why,
}

/// The meaning of a refusal, where behaviour depends on it. Parsed once, from the status and the message.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Why {
    NotFound,
    Conflict,
    InUse,
    /// The engine does not see this path. Docker Desktop prefixes it.
    MissingBindSource(String),
    Other,
}

impl Why {
    fn of(status: u16, says: &str) -> Self {
        match status {
            404 => Self::NotFound,
            409 => Self::Conflict,
            _ if IN_USE.iter().any(|phrase| says.contains(phrase)) => Self::InUse,
            _ => match says.split_once(BIND_SOURCE) {
                Some((_, path)) => Self::MissingBindSource(path.trim_start_matches([':', ' ']).to_owned()),
                None => Self::Other,
            },
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (status: {})", self.says, self.status)
    }
}

impl std::error::Error for Refused {}

fn refused(backend: &str, verb: &'static str, object: &str, status: u16, message: &str) -> Error {
    let says = message.trim().to_owned();
    let lower = says.to_lowercase();
    let (kind, remedy) = match (REFUSALS.iter().find(|known| lower.contains(known.says)), status) {
        (Some(known), _) => (known.kind, (known.remedy)(backend)),
        (None, 404) if lower.contains("no such image") || lower.contains("image not known") => (
            ErrorKind::ImageNotFound,
            Remedy::engine("pull or build the image")
                .or(Change::give("image").with_purpose("to name another")),
        ),
        (None, 404) => (ErrorKind::NotFound, "try again: something removed it".into()),
        (None, 403) => (
            ErrorKind::PermissionDenied,
            Remedy::engine("ask the engine's administrator: an authorization plugin refuses this"),
        ),
        _ => (ErrorKind::Engine, Remedy::engine(format!("see the engine's log (`journalctl -u {backend}`)"))),
    };
    let why = Why::of(status, &says);
    Error::new(kind, "engine", format!("the engine refused to {verb} {object}"))
        .with_backend(backend)
        .with_source(Refused { status, says, why })
        .with_remedy(remedy)
}

fn why(error: &Error) -> Option<&Why> {
    error.cause().and_then(|cause| cause.downcast_ref::<Refused>()).map(|refused| &refused.why)
}

/// The engine is gone, and every request to it fails.
pub(crate) fn is_engine_gone(error: &Error) -> bool {
    let cause = error.cause().and_then(|cause| cause.downcast_ref::<Beneath>());
    cause.is_some_and(|Beneath(why)| nobody_listens(why))
}

/// The object does not exist.
pub(crate) fn is_not_found(error: &Error) -> bool {
    why(error) == Some(&Why::NotFound)
}

/// The object is being changed by another client.
pub(crate) fn is_conflict(error: &Error) -> bool {
    why(error) == Some(&Why::Conflict)
}

/// Containers use the network.
pub(crate) fn is_in_use(error: &Error) -> bool {
    matches!(why(error), Some(Why::Conflict | Why::InUse))
}

/// The engine does not have the image.
pub(crate) fn is_missing_image(error: &Error) -> bool {
    error.kind() == ErrorKind::ImageNotFound
}

/// The engine can't see this path of ours.
pub(crate) fn is_missing_bind_source(error: &Error, path: &str) -> bool {
    matches!(why(error), Some(Why::MissingBindSource(missing)) if missing.ends_with(path))
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

    #[rstest]
    #[case(404, "No such container: x", Why::NotFound)]
    #[case(409, "removal of container x is already in progress", Why::Conflict)]
    #[case(403, "error while removing network: network x has active endpoints", Why::InUse)]
    #[case(500, "\"x\" has associated containers: network is being used", Why::InUse)]
    #[case(400, "bind source path does not exist: /host_mnt/x", Why::MissingBindSource("/host_mnt/x".into()))]
    #[case(500, "something else", Why::Other)]
    fn what_a_refusal_means_is_read_once(#[case] status: u16, #[case] message: &str, #[case] meaning: Why) {
        let error = refused("docker", "create", "x", status, message);
        assert_eq!(why(&error), Some(&meaning));
        assert_eq!(is_missing_bind_source(&error, "/x"), matches!(meaning, Why::MissingBindSource(_)));
        assert!(!is_missing_bind_source(&error, "/y"));
    }
}
