//! The local executor: finds out which walls the host allows, once, and runs behind them.

use async_trait::async_trait;
use exec_core::{
    Capabilities, Cmd, Detected, ErrorKind, ExecOpts, Execution, Executor, Health, Result, SessionName,
};

use crate::config::{LocalConfig, NAME};
use crate::os;

/// Runs commands on this machine.
#[derive(Debug)]
pub struct LocalExec(Box<dyn Executor>);

impl LocalExec {
    /// Makes a first cell to find out what this host allows. With [`WallsChoice::Auto`](crate::WallsChoice::Auto) the
    /// strongest walls that can be had are used; [`capabilities`](Executor::capabilities) and every result tell which.
    pub async fn new(config: LocalConfig) -> Result<Self> {
        os::executor(&config).await.map(Self)
    }
}

#[async_trait]
impl Executor for LocalExec {
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

/// Local execution as a registry's entry: missing where the host does not allow it. A first run that makes no sense is an
/// error here as it would be there.
pub async fn detect(config: LocalConfig) -> Result<Detected> {
    match LocalExec::new(config).await {
        Ok(executor) => Ok(Detected::Ready(std::sync::Arc::new(executor))),
        Err(error) if error.kind() == ErrorKind::Unavailable => Ok(Detected::Missing {
            name: NAME.into(),
            remedy: error.remedy().unwrap_or("use a container").to_owned(),
            reason: error.reason(),
        }),
        Err(error) => Err(error),
    }
}
