//! The Docker executor.

use std::collections::{BTreeMap, BTreeSet};

use exec_container::{Answered, ContainerConfig, Product};
use exec_core::{Detected, Executor, Result, Wraps};

use crate::{Facts, Here, NAME, candidates, diagnose};

/// Configuration of [`DockerExec`].
#[derive(Debug, Clone, Default)]
pub struct DockerConfig {
    /// The engine's address, like `unix:///run/docker.sock`; `None` to look for it.
    pub host: Option<String>,
    /// How containers are made.
    pub containers: ContainerConfig,
}

/// Runs commands in containers of a Docker engine.
#[derive(Debug)]
pub struct DockerExec(Box<dyn Executor>);

impl DockerExec {
    /// Takes the first engine that answers and is Docker.
    pub async fn new(config: DockerConfig) -> Result<Self> {
        exec_container::executor(Box::pin(reach(&config)), NAME, config.containers.clone()).await.map(Self)
    }
}

/// The first engine that answers and is Docker.
pub async fn reach(config: &DockerConfig) -> Result<Answered> {
    let candidates = candidates(config.host.as_deref(), &Here)?;
    let patience = config.containers.patience.greet;
    match exec_container::search(candidates, Product::Docker, patience).await {
        Ok((candidate, greeting)) => Ok(Answered::at(candidate.endpoint, greeting)),
        Err(attempts) => Err(diagnose(attempts, &Facts::look(&Here))),
    }
}

/// By which digests the engine knows these images.
pub async fn digests(config: &DockerConfig, images: &BTreeSet<String>) -> Result<BTreeMap<String, String>> {
    let engine = reach(config).await?;
    exec_container::digests(&engine, NAME, config.containers.patience, images).await
}

impl Wraps for DockerExec {
    fn inner(&self) -> &dyn Executor {
        &*self.0
    }
}

/// Docker as a registry's entry: missing where there is no engine that answers us.
pub async fn detect(config: DockerConfig) -> Result<Detected> {
    Detected::of(NAME, DockerExec::new(config).await, "use --sandbox local")
}
