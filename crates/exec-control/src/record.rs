//! The records of cells and runs.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::owner::Owner;
use crate::process::Process;

/// A cell: written before it is created, removed when nothing of it is left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellRecord {
    /// A unique name, which the cell's control groups, containers and directories share.
    pub name: String,
    /// The executor that created it.
    pub backend: String,
    /// Its owner.
    pub owner: Owner,
    /// When its creation began.
    pub since: Moment,
    /// Where it is; `None` while it is being created.
    pub place: Option<Place>,
    /// The session it serves.
    #[serde(default)]
    pub session: Option<String>,
}

/// Where the processes of a cell are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Place {
    /// Descendants of a process outside, and members of the control groups with the cell's name.
    Keeper {
        /// The process that created the cell and cleans up after it.
        keeper: Process,
        /// The cell's own directory outside, if it has one.
        scratch: Option<PathBuf>,
    },
    /// In a container.
    Container {
        /// The engine's id for it, after which its control groups are named.
        id: String,
        /// The engine's address.
        endpoint: String,
        /// Whether it is on this kernel, where its processes can be found without the engine.
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
    /// Its owner.
    pub owner: Owner,
    /// The session it is part of.
    pub session: Option<String>,
    /// The pid of its first process inside the cell, if the cell serves others too.
    #[serde(skip)]
    pub pid: Option<u32>,
    /// Program and arguments, with likely secrets redacted.
    pub argv: Vec<String>,
    /// Working directory inside.
    pub cwd: String,
    /// When it was started.
    pub since: Moment,
}

impl RunRecord {
    /// The name of its file. It starts with the cell's name, by which the helper that ends the cell after the
    /// owner's death finds it.
    pub(crate) fn file(&self) -> String {
        run_file(&self.cell, &self.id)
    }
}

/// The name of a run's file; the file prepared for a run to come has an empty run name.
pub(crate) fn run_file(cell: &str, run: &str) -> String {
    format!("{cell}.{run}")
}

/// A moment, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Moment(pub u64);

impl Moment {
    /// The current time.
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }

    /// How long ago it was; zero if the clock was set back.
    pub fn age(self) -> Duration {
        Duration::from_millis(Self::now().0.saturating_sub(self.0))
    }

    /// Formats it as RFC 3339.
    pub fn rfc3339(self) -> String {
        humantime::format_rfc3339_millis(UNIX_EPOCH + Duration::from_millis(self.0)).to_string()
    }
}
