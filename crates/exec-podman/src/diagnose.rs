//! From failed attempts to what a person can do about them. Pure: whoever connects brings the failures.

use exec_container::{Telling, Trouble};
use exec_core::{Error, ErrorKind};

use crate::{Attempt, Endpoint, Facts, NAME, Origin, System};

/// One error for all attempts: about the most telling one, with what to do.
pub fn diagnose(attempts: Vec<Attempt>, facts: &Facts) -> Error {
    let Some(telling) = Telling::of(attempts) else {
        return told(message(Trouble::NothingThere, &Origin::Rootless, facts)).with_remedy(get(facts));
    };
    let candidate = &telling.attempt.candidate;
    let error = told(message(telling.trouble, &candidate.origin, facts)).with_remedy(advise(
        telling.trouble,
        &candidate.origin,
        &candidate.endpoint,
        facts,
    ));
    telling.explain(error)
}

fn told(message: &str) -> Error {
    Error::new(ErrorKind::Unavailable, "connect", message).with_backend(NAME)
}

fn message(trouble: Trouble, origin: &Origin, facts: &Facts) -> &'static str {
    match trouble {
        Trouble::NothingThere if origin.is_authoritative() => "there is no socket of a Podman service",
        Trouble::NothingThere if facts.program.is_some() => "no Podman service is running",
        Trouble::NothingThere => "there is no Podman here",
        Trouble::Other => "the Podman service can't be reached",
        Trouble::NobodyListens => "nobody listens where the Podman service should be",
        Trouble::Another => "it is Docker that answers, not Podman",
        Trouble::NotAnEngine => "what answers is no Podman service",
        Trouble::Silent => "the Podman service does not answer in time",
        Trouble::Forbidden => "this user may not use the Podman service",
    }
}

fn advise(trouble: Trouble, origin: &Origin, endpoint: &Endpoint, facts: &Facts) -> String {
    let is_port = matches!(endpoint, Endpoint::Tcp { .. });
    match trouble {
        Trouble::NothingThere | Trouble::NobodyListens if origin.is_authoritative() => {
            elsewhere(origin, &format!("start it with `podman system service --time 0 {endpoint}`"))
        }
        Trouble::NothingThere | Trouble::NobodyListens => get(facts),
        Trouble::Other => elsewhere(origin, "check that it can be reached from here"),
        Trouble::Another => elsewhere(origin, "use Docker as such with `--sandbox docker`"),
        Trouble::NotAnEngine if is_port => elsewhere(origin, "take a port that speaks plain HTTP"),
        Trouble::NotAnEngine => elsewhere(origin, "check what listens there"),
        Trouble::Silent => elsewhere(origin, restart(origin)),
        Trouble::Forbidden => elsewhere(origin, "use your own: Podman needs no rights for that"),
    }
}

/// What to do, or else what to change so that another place is tried.
fn elsewhere(origin: &Origin, otherwise: &str) -> String {
    match origin {
        Origin::Configured => format!("{otherwise}, or correct the configured address"),
        Origin::ContainerHost => format!("{otherwise}, or correct or unset CONTAINER_HOST"),
        Origin::Connection(_) => format!("{otherwise}, or correct or unset CONTAINER_CONNECTION"),
        Origin::Rootful | Origin::Rootless | Origin::Machine => {
            format!("{otherwise}, or say with CONTAINER_HOST where the service is")
        }
    }
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

/// How to come to a Podman. On Linux its program is enough: we start the service ourselves.
fn get(facts: &Facts) -> String {
    match (facts.system, &facts.program) {
        (System::Linux, _) => {
            "install Podman (`sudo apt-get install podman`, `sudo dnf install podman`, \
             https://podman.io/docs/installation), or use another sandbox with `--sandbox`"
        }
        (System::MacOs | System::Windows, Some(_)) => {
            "start the machine with `podman machine start` (`podman machine init` makes one)"
        }
        (System::MacOs | System::Windows, None) => {
            "install Podman (https://podman.io/docs/installation), then `podman machine init` and `podman machine start`"
        }
    }
    .to_owned()
}

#[cfg(test)]
mod tests;
