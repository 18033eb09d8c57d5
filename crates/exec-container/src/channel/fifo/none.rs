//! Elsewhere engines run on another kernel than we do.

use std::convert::Infallible;
use std::io;
use std::path::Path;

use exec_wire::reaper::Directory;

use crate::Attached;

/// There are none.
pub(crate) fn clear(_: &Path, _: exec_watch::SweepMode) -> Vec<String> {
    Vec::new()
}

/// Never made.
#[derive(Debug)]
pub(crate) struct Lanes(Infallible);

impl Lanes {
    pub(crate) fn below(_: &Path) -> Option<Self> {
        None
    }

    pub(crate) fn directory(&self) -> &Directory {
        match self.0 {}
    }

    pub(crate) fn lay(&self) -> io::Result<Lane> {
        match self.0 {}
    }
}

/// Never made.
#[derive(Debug)]
pub(crate) struct Lane(Infallible);

impl Lane {
    pub(crate) fn directory(&self) -> &str {
        match self.0 {}
    }

    #[expect(clippy::unused_async, reason = "the same call as where there are lanes")]
    pub(crate) async fn meet(self, _: Attached) -> Attached {
        match self.0 {}
    }
}
