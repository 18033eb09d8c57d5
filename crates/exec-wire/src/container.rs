//! What PID 1 of a container is told before it serves.
//!
//! The engine built the walls, from paths. Paths can be changed between the host's check and the engine's mount, and an
//! engine may see other files at them than the host does: so PID 1 compares what it finds with what was meant.
//!
//! Everything said to a container passes through its engine, twice a word. Where both sides see the same files there is a
//! *lane* past it: two named pipes in a directory of their own, which PID 1 opens before any command runs and whose names
//! the host then takes away. The engine's stream stays as the lifeline.

use crate::codec::struct_fields;
use crate::jail::{FileId, LandlockPlan};

/// What a container's PID 1 checks and adds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContainerPlan {
    /// The second fence, inside the walls.
    pub landlock: Option<LandlockPlan>,
    /// There is a lane: take it, or say that it can't be taken.
    pub lane: bool,
    /// What must stand where.
    pub expect: Vec<Expected>,
}
struct_fields!(ContainerPlan { landlock, lane } lists { expect });

/// Where the lane's two pipes stand inside.
pub const LANE_DIRECTORY: &str = "/.agentctl/lane";

/// The pipe from the host, in the lane's directory.
pub const LANE_IN: &str = "in";

/// The pipe to the host, in the lane's directory.
pub const LANE_OUT: &str = "out";

/// The first byte after the plan, where there is a lane: on the lane if PID 1 has taken it, on the engine's stream if it
/// can't be taken. No frame begins with it.
pub const LANE_ANSWER: u8 = 0;

/// A mounted file or directory that must be this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// Where it appears inside.
    pub target: Vec<u8>,
    /// What it must be.
    pub id: FileId,
}
struct_fields!(Expected { target, id } lists {});
