//! The Docker executor.

use std::sync::Arc;

use async_trait::async_trait;
use exec_container::{ContainerConfig, ContainerExecutor, Endpoint, greet};
use exec_core::{
    Capabilities, Cmd, Detected, Error, ErrorKind, ExecOpts, Execution, Executor, Health, Result, SessionName,
};

/// The name it is chosen by.
pub(crate) const NAME: &str = "docker";

/// Configuration of [`DockerExec`].
#[derive(Debug, Clone, Default)]
pub struct DockerConfig {
    /// How containers are made.
    pub containers: ContainerConfig,
}

/// Runs commands in containers of a Docker engine.
#[derive(Debug)]
pub struct DockerExec(ContainerExecutor);

impl DockerExec {
    /// Finds an engine and asks it what it can do.
    pub async fn new(config: DockerConfig) -> Result<Self> {
        let endpoint = Endpoint::Unix("/var/run/docker.sock".into());
        let greeting = greet(&endpoint).await.map_err(|why| {
            Error::new(ErrorKind::Unavailable, "connect", format!("{why:?}")).with_backend(NAME)
        })?;
        exec_container::executor(&endpoint, &greeting, NAME, config.containers).await.map(Self)
    }
}

/// Docker as a registry's entry: missing where there is no engine that answers us.
pub async fn detect(config: DockerConfig) -> Result<Detected> {
    match DockerExec::new(config).await {
        Ok(executor) => Ok(Detected::Ready(Arc::new(executor))),
        Err(error) if error.kind() == ErrorKind::Unavailable => Ok(Detected::Missing {
            name: NAME.into(),
            remedy: error.remedy().unwrap_or("use --sandbox local").to_owned(),
            reason: error.to_string(),
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
