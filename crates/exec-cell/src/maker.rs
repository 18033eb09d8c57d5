//! What a backend brings: how to make a cell, and what it guarantees.

use std::fmt::Debug;
use std::hash::Hash;

use async_trait::async_trait;
use exec_control::{Seat, Watch};
use exec_core::{Capabilities, Fences, Isolation, OwnPlaces, Plan, Prepared, Remedy, Result};
use exec_wire::{Facts, Rlimit};
use tokio::io::{AsyncRead, AsyncWrite};

/// What would make a limit hold in a container of an engine.
const ENGINE_LIMITS: [&str; 2] =
    ["use an engine that runs as root", "use one of this user where systemd hands control groups (v2) down"];

/// Makes cells of one kind.
#[async_trait]
pub trait CellMaker: Debug + Send + Sync + 'static {
    /// Everything that distinguishes one cell from another. Cells with equal specifications are interchangeable;
    /// what varies from command to command (arguments, environment, directory, deadline) is not part of it.
    type Spec: Clone + Debug + Eq + Hash + Send + Sync + 'static;

    /// The name the executor is chosen by.
    fn name(&self) -> &str;

    /// What its cells can do and hold.
    fn capabilities(&self) -> &Capabilities;

    /// Adjusts a plan to these cells: a private home directory, an image's variables. Nothing by default. What it has
    /// to find out it may wait for; it is on the way of every run.
    async fn adjust(&self, _plan: &mut Plan) -> Result<()> {
        Ok(())
    }

    /// The cell this run needs; an error if it asks for something these cells can't give.
    fn spec(&self, plan: &Prepared) -> Result<Self::Spec>;

    /// Where its cells and their runs are written down.
    fn watch(&self) -> &Watch;

    /// Whether its cells hold the mounts that keep files of a workspace as they are.
    fn fences(&self) -> Fences {
        Fences::Hold
    }

    /// What nothing that is shown to a command may reach.
    fn own_places(&self) -> &OwnPlaces {
        self.watch().own_places()
    }

    /// Makes a cell. The bytes it speaks are [`exec_wire`] frames.
    async fn make(&self, spec: &Self::Spec) -> Result<CellIo>;

    /// What the end of a cell that never stood means to a person.
    fn explain(&self, error: exec_core::Error) -> exec_core::Error {
        error
    }

    /// The isolation that held, from what the cell read back.
    fn isolation(&self, spec: &Self::Spec, facts: &Facts) -> Isolation;

    /// What would make a limit hold that does not hold here.
    fn limit_remedy(&self) -> Remedy {
        let [as_root, as_user] = ENGINE_LIMITS;
        Remedy::engine(as_root).or(Remedy::engine(as_user))
    }

    /// Kernel limits for the processes of a command in such a cell.
    fn rlimits(&self, plan: &Plan, facts: &Facts) -> Vec<Rlimit>;
}

/// A cell that was just made: its byte streams, and the means to end it from outside.
pub struct CellIo {
    /// Frames from the cell.
    pub reader: Box<dyn AsyncRead + Send + Unpin>,
    /// Frames to the cell. Closing it ends the cell.
    pub writer: Box<dyn AsyncWrite + Send + Unpin>,
    /// The backend's hold on it.
    pub keeper: Box<dyn Keeper>,
    /// Its place in the records. The backend gives it up when nothing of the cell is left.
    pub seat: Seat,
}

impl Debug for CellIo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CellIo").field("keeper", &self.keeper).finish_non_exhaustive()
    }
}

/// A backend's hold on a cell, for when the cell does not answer.
#[async_trait]
pub trait Keeper: Debug + Send + Sync {
    /// Ends the cell by force. May be called any number of times.
    fn kill(&self);

    /// Waits until the backend has verified that nothing of the cell is left.
    async fn gone(&self);

    /// What the backend knows about why a cell ended unasked, once it is gone.
    fn post_mortem(&self) -> PostMortem {
        PostMortem::Unknown
    }
}

/// Why a cell ended unasked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PostMortem {
    /// Nothing is known.
    Unknown,
    /// Its memory was used up, and the kernel killed even its PID 1.
    OutOfMemory,
    /// This was found.
    Found(String),
}
