//! The backend's part: how to make a cell, and what the cell guarantees.

use std::fmt::Debug;
use std::hash::Hash;

use async_trait::async_trait;
use exec_control::{Seat, Watch};
use exec_core::{Capabilities, Fences, Isolation, OwnPlaces, Plan, Prepared, Remedy, Result};
use exec_wire::{Facts, Rlimit};
use tokio::io::{AsyncRead, AsyncWrite};

/// Ways to make a limit hold in a container of an engine.
const ENGINE_LIMITS: [&str; 2] =
    ["use an engine that runs as root", "use one of this user where systemd hands control groups (v2) down"];

/// Makes cells of one kind.
#[async_trait]
pub trait CellMaker: Debug + Send + Sync + 'static {
    /// Everything that distinguishes one cell from another. Cells with equal specifications are interchangeable;
    /// details that vary by command (arguments, environment, directory, deadline) are not part of it.
    type Spec: Clone + Debug + Eq + Hash + Send + Sync + 'static;

    /// The name that selects the executor.
    fn name(&self) -> &str;

    /// The capabilities of its cells.
    fn capabilities(&self) -> &Capabilities;

    /// Adjusts a plan to these cells: a private home directory, an image's variables. Does nothing by default. It may
    /// wait for facts it needs, but every run waits for it.
    async fn adjust(&self, _plan: &mut Plan) -> Result<()> {
        Ok(())
    }

    /// Specifies the cell this run needs. Fails if the run asks for something these cells can't provide.
    fn spec(&self, plan: &Prepared) -> Result<Self::Spec>;

    /// The watch that records its cells and their runs.
    fn watch(&self) -> &Watch;

    /// Whether its cells support the mounts that keep files of a workspace unchanged.
    fn fences(&self) -> Fences {
        Fences::Hold
    }

    /// Places that no mount of a command may reach.
    fn own_places(&self) -> &OwnPlaces {
        self.watch().own_places()
    }

    /// Makes a cell. Its streams carry [`exec_wire`] frames.
    async fn make(&self, spec: &Self::Spec) -> Result<CellIo>;

    /// Explains to the user why a cell ended before it was ready.
    fn explain(&self, error: exec_core::Error) -> exec_core::Error {
        error
    }

    /// The isolation in effect, from the values the cell read back.
    fn isolation(&self, spec: &Self::Spec, facts: &Facts) -> Isolation;

    /// How to make a limit hold that does not hold here.
    fn limit_remedy(&self) -> Remedy {
        let [as_root, as_user] = ENGINE_LIMITS;
        Remedy::engine(as_root).or(Remedy::engine(as_user))
    }

    /// Kernel limits for the processes of a command in such a cell.
    fn rlimits(&self, plan: &Plan, facts: &Facts) -> Vec<Rlimit>;
}

/// A new cell: its byte streams, and the means to end it from outside.
pub struct CellIo {
    /// Frames from the cell.
    pub reader: Box<dyn AsyncRead + Send + Unpin>,
    /// Frames to the cell. Closing it ends the cell.
    pub writer: Box<dyn AsyncWrite + Send + Unpin>,
    /// The backend's handle on it.
    pub keeper: Box<dyn Keeper>,
    /// Its place in the records. The backend removes it when nothing of the cell is left.
    pub seat: Seat,
}

impl Debug for CellIo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CellIo").field("keeper", &self.keeper).finish_non_exhaustive()
    }
}

/// A backend's handle on a cell, for when the cell does not answer.
#[async_trait]
pub trait Keeper: Debug + Send + Sync {
    /// Ends the cell by force. May be called any number of times.
    fn kill(&self);

    /// Waits until the backend has verified that nothing of the cell is left.
    async fn gone(&self);

    /// Why the cell ended unasked, if the backend knows. Called once it is gone.
    fn post_mortem(&self) -> PostMortem {
        PostMortem::Unknown
    }
}

/// Why a cell ended unasked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PostMortem {
    /// Nothing is known.
    Unknown,
    /// It ran out of memory, and the kernel killed even its PID 1.
    OutOfMemory,
    /// The backend found this reason.
    Found(String),
}
