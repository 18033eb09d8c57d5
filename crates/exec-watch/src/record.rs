//! What is written down of a cell and of a run.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::owner::Owner;
use crate::process::Process;

/// A cell: written before it is made, removed when nothing of it is left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellRecord {
    /// Nothing else has this name: control groups, containers and directories of the cell do.
    pub name: String,
    /// The executor that made it.
    pub backend: String,
    /// Whose it is.
    pub owner: Owner,
    /// When it was begun.
    pub since: Moment,
    /// Where it is; none while it is being made.
    pub place: Option<Place>,
    /// The session it serves.
    #[serde(default)]
    pub session: Option<String>,
}

/// Where the processes of a cell are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Place {
    /// Descendants of a process outside of it, and in the control groups of the cell's name.
    Keeper {
        /// The process that made it and cleans up after it.
        keeper: Process,
        /// A directory of its own outside, if it has one.
        scratch: Option<PathBuf>,
    },
    /// In a container.
    Container {
        /// The engine's own name for it; its control groups are named after it.
        id: String,
        /// Where the engine listens.
        endpoint: String,
        /// On this kernel, where its processes can be found without the engine.
        same_kernel: bool,
    },
    /// A process group.
    Group {
        /// Its leader.
        leader: Process,
    },
}

/// A run: written when it starts, removed when it has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Its name.
    pub id: String,
    /// The cell it is in.
    pub cell: String,
    /// The executor.
    pub backend: String,
    /// Whose it is.
    pub owner: Owner,
    /// The session it is part of.
    pub session: Option<String>,
    /// The number of its first process inside the cell, where the cell serves others too.
    #[serde(skip)]
    pub pid: Option<u32>,
    /// Program and arguments, with what looks like a secret left out.
    pub argv: Vec<String>,
    /// Working directory inside.
    pub cwd: String,
    /// When it was started.
    pub since: Moment,
}

impl RunRecord {
    /// What its file is called. It begins with the cell's name, so that the helper that ends the cell after the owner's death finds it.
    pub(crate) fn file(&self) -> String {
        run_file(&self.cell, &self.id)
    }
}

/// What the file of a run is called; of one that is still to come, without a name.
pub(crate) fn run_file(cell: &str, run: &str) -> String {
    format!("{cell}.{run}")
}

/// A moment, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Moment(pub u64);

impl Moment {
    /// This one.
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }

    /// How long ago it was; nothing if the clock was set back.
    pub fn age(self) -> Duration {
        Duration::from_millis(Self::now().0.saturating_sub(self.0))
    }

    /// As people and other programs write it.
    pub fn rfc3339(self) -> String {
        humantime::format_rfc3339_millis(UNIX_EPOCH + Duration::from_millis(self.0)).to_string()
    }
}
