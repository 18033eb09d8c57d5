//! No FIFO channels: outside Linux, engines run on another kernel.

use std::convert::Infallible;
use std::io;
use std::path::Path;

use exec_wire::reaper::Directory;

use crate::Attached;

/// Never created.
pub(crate) fn clear(_: &Path, _: exec_control::SweepMode) -> Vec<String> {
    Vec::new()
}

/// Never created.
#[derive(Debug)]
pub(crate) struct FifoChannels(Infallible);

impl FifoChannels {
    pub(crate) fn below(_: &Path) -> Option<Self> {
        None
    }

    pub(crate) fn directory(&self) -> &Directory {
        match self.0 {}
    }

    pub(crate) fn create(&self) -> io::Result<FifoChannel> {
        match self.0 {}
    }
}

/// Never created.
#[derive(Debug)]
pub(crate) struct FifoChannel(Infallible);

impl FifoChannel {
    pub(crate) fn directory(&self) -> &str {
        match self.0 {}
    }

    #[expect(clippy::unused_async, reason = "the same call as where there are FIFO channels")]
    pub(crate) async fn meet(self, _: Attached) -> Attached {
        match self.0 {}
    }
}
