//! Turns failed attempts into an error with a remedy. Pure: the caller connects and passes in the failures.

use exec_container::{Telling, Trouble};
use exec_core::{Change, Error, ErrorKind, Remedy};

use crate::{Attempt, Candidate, DockerGroup, Endpoint, Facts, NAME, Origin, System};

fn message(trouble: Trouble, origin: &Origin, facts: &Facts) -> &'static str {
    match trouble {
        Trouble::NothingThere if origin.is_authoritative() => {
            "the socket of the Docker engine does not exist"
        }
        Trouble::NothingThere if facts.program.is_some() => "the Docker engine is not running",
        Trouble::NothingThere => "Docker was not found here",
        Trouble::Other => "the Docker engine can't be reached",
        Trouble::NobodyListens => "nothing listens where the Docker engine should be",
        Trouble::Another => "it is Podman that answers, not Docker",
        Trouble::NotAnEngine => "the answer is not from a Docker engine",
        Trouble::Silent => "the Docker engine does not answer in time",
        Trouble::Forbidden => "this user may not use the Docker engine",
    }
}

/// One error for all attempts: about the most informative one, with a remedy.
pub fn diagnose(attempts: Vec<Attempt>, facts: &Facts) -> Error {
    let Some(telling) = Telling::of(attempts) else {
        return explained(Trouble::NothingThere, &Origin::Default, facts)
            .with_remedy(start(&Origin::Default, facts));
    };
    let (trouble, candidate) = (telling.trouble, &telling.attempt.candidate);
    let error = explained(trouble, &candidate.origin, facts).with_remedy(advise(trouble, candidate, facts));
    telling.explain(error)
}

fn explained(trouble: Trouble, origin: &Origin, facts: &Facts) -> Error {
    Error::new(ErrorKind::Unavailable, "connect", message(trouble, origin, facts)).with_backend(NAME)
}

fn advise(trouble: Trouble, candidate: &Candidate, facts: &Facts) -> Remedy {
    match trouble {
        Trouble::NothingThere | Trouble::NobodyListens => start(&candidate.origin, facts),
        Trouble::Other => {
            elsewhere(&candidate.origin, Remedy::engine("check that it can be reached from here"))
        }
        Trouble::Another => elsewhere(
            &candidate.origin,
            Change::set("executor", "podman").with_purpose("to use Podman as such"),
        ),
        Trouble::NotAnEngine => not_an_engine(candidate),
        Trouble::Silent => silent(&candidate.origin, facts),
        Trouble::Forbidden => forbidden(&candidate.origin, facts),
    }
}

/// The remedy, or else what to change so that another place is tried.
fn elsewhere(origin: &Origin, first: impl Into<Remedy>) -> Remedy {
    first.into().or(Remedy::engine(match origin {
        Origin::Configured => "correct the configured address",
        Origin::DockerHost => "correct or unset DOCKER_HOST",
        Origin::Context(_) => "choose another context with `docker context use`",
        Origin::Default | Origin::Rootless | Origin::Desktop => "say with DOCKER_HOST where the engine is",
    }))
}

fn start(origin: &Origin, facts: &Facts) -> Remedy {
    if origin.is_authoritative() {
        return elsewhere(origin, Remedy::engine("start the engine that should be there"));
    }
    Remedy::engine(match (origin, facts.system, &facts.program) {
        (Origin::Rootless, ..) => "start it with `systemctl --user start docker`",
        (Origin::Desktop, ..) | (_, System::MacOs | System::Windows, Some(_)) => {
            "open Docker Desktop and wait until it says that the engine is running"
        }
        (_, System::MacOs | System::Windows, None) => {
            "install Docker Desktop (https://docs.docker.com/get-started/get-docker/) and open it"
        }
        (_, System::Linux, Some(_)) => {
            "start it with `sudo systemctl start docker`, or your own with `systemctl --user start docker`"
        }
        (_, System::Linux, None) => {
            return Remedy::engine("install Docker (https://docs.docker.com/engine/install/)")
                .or(Remedy::another_sandbox());
        }
    })
}

fn silent(origin: &Origin, facts: &Facts) -> Remedy {
    let is_local = !origin.is_authoritative();
    match (origin, facts.system) {
        (Origin::Rootless, _) => Remedy::engine("see what it is doing with `journalctl --user -u docker`"),
        (Origin::Default, System::Linux) => Remedy::engine(
            "see what it is doing with `sudo journalctl -u docker`; `sudo systemctl restart docker` starts it anew",
        ),
        _ if is_local => Remedy::engine("restart Docker Desktop"),
        _ => elsewhere(origin, Remedy::engine("check that the engine is well and can be reached from here")),
    }
}

fn not_an_engine(candidate: &Candidate) -> Remedy {
    let advice = match candidate.endpoint {
        Endpoint::Tcp { .. } => {
            "take a port that speaks plain HTTP (TLS, mostly port 2376, is not built in; `ssh -L` can forward the socket)"
        }
        Endpoint::Unix(_) | Endpoint::NamedPipe(_) => "check what listens there",
    };
    elsewhere(&candidate.origin, Remedy::engine(advice))
}

/// Users who join the group should know that it is equivalent to root.
fn forbidden(origin: &Origin, facts: &Facts) -> Remedy {
    let own = || Remedy::engine("set up your own engine with `dockerd-rootless-setuptool.sh install`");
    match (facts.system, facts.group) {
        (System::Linux, DockerGroup::NextSession) => Remedy::engine(
            "log in again, or run `newgrp docker`: this session began before you joined the group `docker`",
        ),
        (System::Linux, DockerGroup::Stranger) => own().or(Remedy::engine(
            "join the group that may use this one with `sudo usermod -aG docker $USER` and log in again (its members are \
             as good as root)",
        )),
        (System::Linux, DockerGroup::Absent) => {
            own().or(Remedy::engine("ask the administrator of this one for access"))
        }
        (System::Linux, DockerGroup::Member) => {
            elsewhere(origin, Remedy::engine("check with `ls -l` which group the socket belongs to"))
        }
        (System::MacOs | System::Windows, _) => {
            elsewhere(origin, Remedy::engine("open Docker Desktop as the user who runs this"))
        }
    }
}

#[cfg(test)]
mod tests;
