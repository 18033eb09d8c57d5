//! The reaper: a helper process that removes our containers if we are killed.
//!
//! A container that was created but never started has no PID 1 of ours to end it, and the engine does not remove it
//! by itself. The helper learns every name before the engine does.

#[cfg(target_os = "linux")]
mod process;

#[cfg(target_os = "linux")]
pub(crate) use process::Reaper;

/// What the helper needs to know besides the containers' names.
#[derive(Debug)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "there is no helper"))]
pub(crate) struct ReaperSetup {
    /// The directory of FIFO channels to remove.
    pub(crate) fifo_channels: Option<exec_wire::reaper::Directory>,
    /// The path prefixes of container records, which are removed with their containers.
    pub(crate) records: Vec<exec_wire::reaper::Directory>,
    /// The mark of a checked audit log, removed with the record of a run that did not end.
    pub(crate) log_note: Option<exec_wire::reaper::Directory>,
    /// How to interpret the engine's answers.
    pub(crate) dialect: crate::engine::dialect::Dialect,
    /// The lifeline of an engine that we started: it must last until the helper has finished.
    pub(crate) lifeline: Option<crate::Lifeline>,
}

/// Without a helper, the next start finds what a killed process left behind.
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
