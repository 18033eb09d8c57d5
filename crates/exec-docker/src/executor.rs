//! The Docker executor.

use std::sync::Arc;

use async_trait::async_trait;
use exec_container::{Answered, ContainerConfig, Product};
use exec_core::{
    Capabilities, Cmd, Detected, ErrorKind, ExecOpts, Execution, Executor, Health, Result, SessionName,
};

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
        let candidates = candidates(config.host.as_deref(), &Here)?;
        let patience = config.containers.patience.greet;
        match exec_container::search(candidates, Product::Docker, patience).await {
            Ok((candidate, greeting)) => {
                let engine = Answered { endpoint: candidate.endpoint, greeting, lifeline: None };
                exec_container::executor(engine, NAME, config.containers).await.map(Self)
            }
            Err(attempts) => Err(diagnose(attempts, &Facts::look(&Here))),
        }
    }
}

/// Docker as a registry's entry: missing where there is no engine that answers us.
pub async fn detect(config: DockerConfig) -> Result<Detected> {
    match DockerExec::new(config).await {
        Ok(executor) => Ok(Detected::Ready(Arc::new(executor))),
        Err(error) if error.kind() == ErrorKind::Unavailable => Ok(Detected::Missing {
            name: NAME.into(),
            remedy: error.remedy().unwrap_or("use --sandbox local").to_owned(),
            reason: error.reason(),
        }),
        Err(error) => Err(error),
    }
}

#[async_trait]
impl Executor for DockerExec {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn capabilities(&self) -> &Capabilities {
        self.0.capabilities()
    }

    async fn start(&self, cmd: &Cmd, opts: &ExecOpts) -> Result<Execution> {
        self.0.start(cmd, opts).await
    }

    async fn warm(&self, opts: &ExecOpts) -> Result<()> {
        self.0.warm(opts).await
    }

    async fn end_session(&self, session: &SessionName) -> Result<()> {
        self.0.end_session(session).await
    }

    async fn health(&self) -> Result<Health> {
        self.0.health().await
    }
}
