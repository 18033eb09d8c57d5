//! The Docker executor.

use exec_container::{Answered, ContainerConfig, Product};
use exec_core::{Executor, Result, Wraps};

use crate::{Facts, Here, NAME, candidates, diagnose};

/// Configuration of [`DockerExec`], and the backend that creates it.
#[derive(Debug, Clone, Default)]
pub struct DockerConfig {
    /// The engine's address, such as `unix:///run/docker.sock`; `None` to look for it.
    pub host: Option<String>,
    /// How containers are created.
    pub containers: ContainerConfig,
}

/// Runs commands in containers of a Docker engine.
#[derive(Debug)]
pub struct DockerExec(Box<dyn Executor>);

impl DockerExec {
    /// Uses the first engine that answers and is Docker.
    pub async fn new(config: DockerConfig) -> Result<Self> {
        exec_container::executor(Box::pin(reach(&config)), NAME, config.containers.clone()).await.map(Self)
    }
}

/// Finds the first engine that answers and is Docker.
pub(crate) async fn reach(config: &DockerConfig) -> Result<Answered> {
    let candidates = candidates(config.host.as_deref(), &Here)?;
    let patience = config.containers.patience.greet;
    match exec_container::search(candidates, Product::Docker, patience).await {
        Ok((candidate, greeting)) => Ok(Answered::at(candidate.endpoint, greeting)),
        Err(attempts) => Err(diagnose(attempts, &Facts::look(&Here))),
    }
}

impl Wraps for DockerExec {
    fn inner(&self) -> &dyn Executor {
        &*self.0
    }
}
