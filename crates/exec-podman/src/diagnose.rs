//! Turns failed attempts into an error with a remedy. Pure: the caller connects and passes in the failures.

use exec_container::{Telling, Trouble};
use exec_core::{Change, Error, ErrorKind, Remedy};

use crate::{Attempt, Endpoint, Facts, NAME, Origin, System};

/// One error for all attempts: about the most informative one, with a remedy.
pub fn diagnose(attempts: Vec<Attempt>, facts: &Facts) -> Error {
    let Some(telling) = Telling::of(attempts) else {
        return explained(message(Trouble::NothingThere, &Origin::Rootless, facts)).with_remedy(get(facts));
    };
    let candidate = &telling.attempt.candidate;
    let error = explained(message(telling.trouble, &candidate.origin, facts)).with_remedy(advise(
        telling.trouble,
        &candidate.origin,
        &candidate.endpoint,
        facts,
    ));
    telling.explain(error)
}

fn explained(message: &str) -> Error {
    Error::new(ErrorKind::Unavailable, "connect", message).with_backend(NAME)
}

fn message(trouble: Trouble, origin: &Origin, facts: &Facts) -> &'static str {
    match trouble {
        Trouble::NothingThere if origin.is_authoritative() => {
            "the socket of the Podman service does not exist"
        }
        Trouble::NothingThere if facts.program.is_some() => "no Podman service is running",
        Trouble::NothingThere => "Podman was not found here",
        Trouble::Other => "the Podman service can't be reached",
        Trouble::NobodyListens => "nothing listens where the Podman service should be",
        Trouble::Another => "it is Docker that answers, not Podman",
        Trouble::NotAnEngine => "the answer is not from a Podman service",
        Trouble::Silent => "the Podman service does not answer in time",
        Trouble::Forbidden => "this user may not use the Podman service",
    }
}

fn advise(trouble: Trouble, origin: &Origin, endpoint: &Endpoint, facts: &Facts) -> Remedy {
    let is_port = matches!(endpoint, Endpoint::Tcp { .. });
    match trouble {
        Trouble::NothingThere | Trouble::NobodyListens if origin.is_authoritative() => {
            let start = format!("start it with `podman system service --time 0 {endpoint}`");
            elsewhere(origin, Remedy::engine(start))
        }
        Trouble::NothingThere | Trouble::NobodyListens => get(facts),
        Trouble::Other => elsewhere(origin, Remedy::engine("check that it can be reached from here")),
        Trouble::Another => {
            elsewhere(origin, Change::set("executor", "docker").with_purpose("to use Docker as such"))
        }
        Trouble::NotAnEngine if is_port => {
            elsewhere(origin, Remedy::engine("take a port that speaks plain HTTP"))
        }
        Trouble::NotAnEngine => elsewhere(origin, Remedy::engine("check what listens there")),
        Trouble::Silent => elsewhere(origin, Remedy::engine(restart(origin))),
        Trouble::Forbidden => {
            elsewhere(origin, Remedy::engine("use your own: Podman needs no rights for that"))
        }
    }
}

/// The remedy, or else what to change so that another place is tried.
fn elsewhere(origin: &Origin, first: impl Into<Remedy>) -> Remedy {
    first.into().or(Remedy::engine(match origin {
        Origin::Configured => "correct the configured address",
        Origin::ContainerHost => "correct or unset CONTAINER_HOST",
        Origin::Connection(_) => "correct or unset CONTAINER_CONNECTION",
        Origin::Rootful | Origin::Rootless | Origin::Machine => {
            "say with CONTAINER_HOST where the service is"
        }
    }))
}

fn restart(origin: &Origin) -> &'static str {
    match origin {
        Origin::Rootful => "restart it with `sudo systemctl restart podman.socket podman.service`",
        Origin::Rootless => "restart it with `systemctl --user restart podman.socket podman.service`",
        Origin::Machine => "restart it with `podman machine stop` and `podman machine start`",
        Origin::Configured | Origin::ContainerHost | Origin::Connection(_) => {
            "check that the service is well and can be reached from here"
        }
    }
}

/// How to get Podman. On Linux the `podman` CLI is enough: we start the service ourselves.
fn get(facts: &Facts) -> Remedy {
    Remedy::engine(match (facts.system, &facts.program) {
        (System::Linux, _) => {
            return Remedy::engine(
                "install Podman (`sudo apt-get install podman`, `sudo dnf install podman`, \
                 https://podman.io/docs/installation)",
            )
            .or(Remedy::another_sandbox());
        }
        (System::MacOs | System::Windows, Some(_)) => {
            "start the machine with `podman machine start` (`podman machine init` makes one)"
        }
        (System::MacOs | System::Windows, None) => {
            "install Podman (https://podman.io/docs/installation), then `podman machine init` and `podman machine start`"
        }
    })
}

#[cfg(test)]
mod tests;
