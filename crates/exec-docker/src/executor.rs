//! The Docker executor.

use exec_container::{ContainerConfig, Product, Silence, greet};
use exec_core::{Detected, Executor, Result, Wraps};

use crate::{Attempt, Facts, Failure, Here, NAME, candidates, diagnose};

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
        let mut attempts = Vec::new();
        for candidate in candidates(config.host.as_deref(), &Here)? {
            let failure = match greet(&candidate.endpoint, config.containers.patience.greet).await {
                Ok(greeting) if greeting.product == Product::Docker => {
                    tracing::debug!(%candidate, "Docker answers");
                    let made =
                        exec_container::executor(&candidate.endpoint, &greeting, NAME, config.containers);
                    return made.await.map(Self);
                }
                Ok(_) => Failure::Podman,
                Err(Silence::Connect(error)) => Failure::Connect(error),
                Err(Silence::TimedOut) => Failure::TimedOut,
                Err(Silence::NotAnEngine(answer)) => {
                    tracing::debug!(%candidate, answer, "what answers is no engine");
                    Failure::NotAnEngine
                }
            };
            attempts.push(Attempt { candidate, failure });
        }
        Err(diagnose(attempts, &Facts::look(&Here)))
    }
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
