//! The reaper: a helper process that removes our containers should we be killed.
//!
//! A container that was created and never started has no PID 1 of ours that could end it, and no engine removes it by
//! itself. The helper learns every name before the engine does.

#[cfg(target_os = "linux")]
mod process;

#[cfg(target_os = "linux")]
pub(crate) use process::Reaper;

/// What the helper has to know beside the containers' names.
#[derive(Debug)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "there is no helper"))]
pub(crate) struct ReaperSetup {
    /// Where FIFO channels have to go.
    pub(crate) fifo_channels: Option<exec_wire::reaper::Directory>,
    /// What the records of containers are called, but for their names: they go with them.
    pub(crate) records: Vec<exec_wire::reaper::Directory>,
    /// What goes with the record of a run that did not end.
    pub(crate) log_note: Option<exec_wire::reaper::Directory>,
    /// How the engine is to be understood.
    pub(crate) dialect: crate::engine::dialect::Dialect,
    /// What the engine hangs on, if it is one of ours: it has to last until the helper has done its duty.
    pub(crate) lifeline: Option<crate::Lifeline>,
}

/// Where there is no helper, what a killed process left behind is found at the next start.
#[cfg(not(target_os = "linux"))]
#[derive(Debug, Clone)]
pub(crate) struct Reaper;

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unused_self, reason = "the same calls as where there is a helper")]
impl Reaper {
    #[expect(clippy::unused_async, reason = "the same calls as where there is a helper")]
    pub(crate) async fn new(_: &crate::Endpoint, _: &str, _: ReaperSetup) -> exec_core::Result<Self> {
        Ok(Self)
    }

    pub(crate) fn watch(&self, _: &str) -> exec_core::Result<()> {
        Ok(())
    }

    pub(crate) fn made(&self, _: &str) {}

    pub(crate) fn forget(&self, _: &str) {}
}
