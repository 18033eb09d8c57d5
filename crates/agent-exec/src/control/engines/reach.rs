//! The engines that answer, for who has the time to look for all of them. A stop has not: it asks those that it knows of.

use exec_container::{Depot, Patience};
use exec_core::{Error, ErrorKind, Result};

/// An engine, and the name it is chosen by.
#[derive(Debug)]
pub(in super::super) struct Reached {
    pub(in super::super) backend: &'static str,
    pub(in super::super) depot: Depot,
}

/// Every engine of this user's that answers. Podman is mostly a program and no service; then one is started, which is ours alone
/// and goes with its depot. Who has no Podman, or one that does not work, has nothing there.
pub(in super::super) async fn all() -> Vec<Reached> {
    let mut found = Vec::new();
    #[cfg(feature = "docker")]
    for candidate in exec_docker::candidates(None, &exec_docker::Here).unwrap_or_default() {
        let host = Some(candidate.endpoint.to_string());
        found.push(docker(&exec_docker::DockerConfig { host, ..Default::default() }).await);
    }
    #[cfg(feature = "podman")]
    found.push(podman().await);
    let log = |error: &Error| tracing::debug!(%error, "an engine that is not asked");
    found.into_iter().filter_map(|one| one.inspect_err(log).ok()).collect()
}

/// One engine of each make, or the one that is wanted; an error if there is none, with its own reason if it was named.
pub(in super::super) async fn one_of_each(wanted: Option<&str>) -> Result<Vec<Reached>> {
    let mut tried = Vec::new();
    #[cfg(feature = "docker")]
    if wanted.is_none_or(|wanted| wanted == "docker") {
        tried.push(docker(&exec_docker::DockerConfig::default()).await);
    }
    #[cfg(feature = "podman")]
    if wanted.is_none_or(|wanted| wanted == "podman") {
        tried.push(podman().await);
    }
    let (found, failed): (Vec<_>, Vec<_>) = tried.into_iter().partition(Result::is_ok);
    match (found.is_empty(), wanted, failed.into_iter().find_map(Result::err)) {
        (false, ..) => Ok(found.into_iter().flatten().collect()),
        (true, Some(_), Some(why)) => Err(why),
        (true, ..) => {
            Err(Error::new(ErrorKind::Unavailable, "images", "no engine answers that could have images")
                .with_remedy("see with `agentctl doctor` why not"))
        }
    }
}

#[cfg(feature = "docker")]
async fn docker(config: &exec_docker::DockerConfig) -> Result<Reached> {
    let answered = exec_docker::reach(config).await?;
    Ok(Reached { backend: "docker", depot: Depot::of(answered, "docker", Patience::default())? })
}

#[cfg(feature = "podman")]
async fn podman() -> Result<Reached> {
    let answered = exec_podman::reach(&exec_podman::PodmanConfig::default()).await?;
    Ok(Reached { backend: "podman", depot: Depot::of(answered, "podman", Patience::default())? })
}
