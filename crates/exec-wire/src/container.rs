//! The plan that PID 1 of a container receives before it serves.
//!
//! The engine built the walls, from paths. Paths can change between the host's check and the engine's mount,
//! and an engine may see other files at them than the host does: so PID 1 compares what it finds with the
//! plan.
//!
//! All traffic with a container passes through its engine. If both sides see the same files, a *FIFO channel* bypasses
//! it: two named pipes in their own directory. PID 1 opens them before any command runs, and the host then
//! removes their names. The engine's stream stays as the lifeline.

use crate::codec::struct_fields;
use crate::jail::{FileId, LandlockPlan};

/// What a container's PID 1 checks and adds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContainerPlan {
    /// The second fence, inside the walls.
    pub landlock: Option<LandlockPlan>,
    /// Whether the container has a FIFO channel: PID 1 opens it, or reports that it can't.
    pub fifo_channel: bool,
    /// The files that must be at these paths.
    pub expect: Vec<Expected>,
}
struct_fields!(ContainerPlan { landlock, fifo_channel } lists { expect });

/// The directory of the FIFO channel's two pipes inside.
pub const FIFO_DIRECTORY: &str = "/.agentctl/lane";

/// The pipe from the host, in the FIFO channel's directory.
pub const FIFO_IN: &str = "in";

/// The pipe to the host, in the FIFO channel's directory.
pub const FIFO_OUT: &str = "out";

/// The first byte after the plan, if the container has a FIFO channel: on the FIFO channel if PID 1 has opened it, on the
/// engine's stream if it can't. No frame begins with it.
pub const FIFO_ANSWER: u8 = 0;

/// The identity that a mounted file or directory must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// Its path inside.
    pub target: Vec<u8>,
    /// The required identity.
    pub id: FileId,
}
struct_fields!(Expected { target, id } lists {});
