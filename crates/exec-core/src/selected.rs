//! A chosen executor: it carries the name it was chosen by, and its results report the selection.

use std::sync::Arc;

use async_trait::async_trait;

use crate::{Capabilities, Cmd, ExecOpts, Execution, Executor, Health, Result, Selection, SessionName};

/// Adds the selection, and with it the name, to every result.
#[derive(Debug)]
pub(crate) struct Selected {
    pub(crate) executor: Arc<dyn Executor>,
    pub(crate) selection: Arc<Selection>,
}

#[async_trait]
impl Executor for Selected {
    fn name(&self) -> &str {
        &self.selection.name
    }

    fn capabilities(&self) -> &Capabilities {
        self.executor.capabilities()
    }

    async fn start(&self, cmd: &Cmd, opts: &ExecOpts) -> Result<Execution> {
        let execution = self.executor.start(cmd, opts).await?;
        Ok(execution.chosen_by(Arc::clone(&self.selection)))
    }

    async fn warm(&self, opts: &ExecOpts) -> Result<()> {
        self.executor.warm(opts).await
    }

    async fn end_session(&self, session: &SessionName) -> Result<()> {
        self.executor.end_session(session).await
    }

    async fn health(&self) -> Result<Health> {
        self.executor.health().await
    }
}
