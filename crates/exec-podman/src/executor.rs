//! The Podman executor.

use exec_container::{Answered, ContainerConfig, Greeting, Product};
use exec_core::{Error, ErrorKind, Executor, Remedy, Result, Wraps};

use crate::{Attempt, Candidate, Endpoint, Facts, Here, NAME, System, candidates, diagnose, service};

/// Configuration of [`PodmanExec`], and the backend that creates it.
#[derive(Debug, Clone, Default)]
pub struct PodmanConfig {
    /// The service's address, such as `unix:///run/podman/podman.sock`; `None` to look for one, or else start one.
    pub host: Option<String>,
    /// How containers are created.
    pub containers: ContainerConfig,
}

/// Runs commands in Podman containers.
#[derive(Debug)]
pub struct PodmanExec(Box<dyn Executor>);

impl PodmanExec {
    /// Uses the first service that answers, is Podman and can create containers here, or else starts one.
    pub async fn new(config: PodmanConfig) -> Result<Self> {
        exec_container::executor(Box::pin(reach(&config)), NAME, config.containers.clone()).await.map(Self)
    }
}

/// Finds the first service that answers, is Podman and can create containers here, or else starts one, which ends
/// when its lifeline is dropped.
pub(crate) async fn reach(config: &PodmanConfig) -> Result<Answered> {
    let facts = Facts::look(&Here);
    match find(config, &facts).await? {
        Ok(found) => Ok(found),
        Err(attempts) => start(config, &facts, attempts).await,
    }
}

/// An existing service, or else the failed attempts. A named service that can't be used is an error.
async fn find(config: &PodmanConfig, facts: &Facts) -> Result<Result<Answered, Vec<Attempt>>> {
    let patience = config.containers.patience;
    let candidates = candidates(config.host.as_deref(), &Here)?;
    let was_named = candidates.iter().any(|candidate| candidate.origin.is_authoritative());
    match exec_container::search(candidates, Product::Podman, patience.greet).await {
        Ok((candidate, greeting)) => match defeated(&candidate, &greeting, config, facts).await? {
            Some(runtime) if was_named => Err(no_containers(&candidate, &runtime)),
            Some(runtime) => {
                tracing::debug!(%candidate, runtime, "its runtime makes no containers on this host");
                Ok(Err(Vec::new()))
            }
            None => Ok(Ok(Answered::at(candidate.endpoint, greeting))),
        },
        Err(attempts) if was_named => Err(diagnose(attempts, facts)),
        Err(attempts) => Ok(Err(attempts)),
    }
}

/// The runtime of a service on this machine, if it can't create containers here.
async fn defeated(
    candidate: &Candidate,
    greeting: &Greeting,
    config: &PodmanConfig,
    facts: &Facts,
) -> Result<Option<String>> {
    // The query takes time, and only one runtime fails on some hosts.
    if !facts.cgroups.defeat("crun") || !matches!(candidate.endpoint, Endpoint::Unix(_)) {
        return Ok(None);
    }
    let patience = config.containers.patience;
    let runtime = exec_container::default_runtime(&candidate.endpoint, greeting, NAME, patience).await?;
    Ok(runtime.filter(|runtime| facts.cgroups.defeat(runtime)))
}

fn no_containers(candidate: &Candidate, runtime: &str) -> Error {
    Error::new(
        ErrorKind::Unavailable,
        "connect",
        format!("the runtime {runtime} of the Podman service makes no containers on hosts with hybrid control groups"),
    )
    .with_backend(NAME)
    .with_context("at", &candidate.endpoint)
    .with_context("from", &candidate.origin)
    .with_remedy(
        Remedy::engine("start the service with `podman --runtime runc system service`")
            .or(Remedy::engine("set `runtime = \"runc\"` below [engine] in containers.conf")),
    )
}

/// Starts a service of our own. Only on Linux: elsewhere Podman runs in a virtual machine, which we don't start.
async fn start(config: &PodmanConfig, facts: &Facts, attempts: Vec<Attempt>) -> Result<Answered> {
    match (facts.system, &facts.program) {
        (System::Linux, Some(program)) => service::start(program, facts, config.containers.patience).await,
        _ => Err(diagnose(attempts, facts)),
    }
}

impl Wraps for PodmanExec {
    fn inner(&self) -> &dyn Executor {
        &*self.0
    }
}
