//! What PID 1 of a container is told before it serves.
//!
//! The engine built the walls, from paths. Paths can be changed between the host's check and the engine's mount, and an
//! engine may see other files at them than the host does: so PID 1 compares what it finds with what was meant.

use crate::codec::struct_fields;
use crate::jail::{FileId, LandlockPlan};

/// What a container's PID 1 checks and adds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContainerPlan {
    /// The second fence, inside the walls.
    pub landlock: Option<LandlockPlan>,
    /// What must stand where.
    pub expect: Vec<Expected>,
}
struct_fields!(ContainerPlan { landlock } lists { expect });

/// A mounted file or directory that must be this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// Where it appears inside.
    pub target: Vec<u8>,
    /// What it must be.
    pub id: FileId,
}
struct_fields!(Expected { target, id } lists {});
