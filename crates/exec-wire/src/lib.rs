//! The frames between a cell's PID 1 (`exec-init`) and its host.
//!
//! One byte stream each way. A frame is a nine-byte [`Header`] and a payload; every run has a number, so
//! one stream carries many runs. Output flows only against credit the host gave, input only against credit
//! the cell gave: neither side ever queues what the other does not read. What the [`reaper`] is told is no part of that:
//! it is no cell, and is spoken to in lines.
//!
//! The parsers in [`procfs`] are here because both sides need them.
//!
//! This crate knows no I/O, no async runtime and no operating system: bytes in, values out. Whatever the
//! bytes are, decoding returns a value or a [`WireError`]; it never panics and never allocates more than the
//! frame's checked length.
//!
//! ```
//! use exec_wire::{Header, ToCell};
//!
//! let mut bytes = Vec::new();
//! ToCell::Signal(15).encode(7, &mut bytes);
//! let (header, payload) = Header::split(&bytes)?.expect("a whole frame");
//! assert_eq!(header.run, 7);
//! assert_eq!(ToCell::decode(&header, payload)?, ToCell::Signal(15));
//! # Ok::<(), exec_wire::WireError>(())
//! ```

mod codec;
mod container;
mod error;
mod from_cell;
mod header;
mod jail;
mod kernel_files;
pub mod procfs;
pub mod reaper;
mod start;
mod to_cell;

pub use container::{ContainerPlan, Expected, LANE_ANSWER, LANE_DIRECTORY, LANE_IN, LANE_OUT};
pub use error::WireError;
pub use from_cell::{
    CgroupVersion, Closed, EndReason, Exited, Facts, Failed, FromCell, ReadBack, Stage, Status,
};
pub use header::{HEADER_LEN, Header, MAX_AFTER_EXIT, MAX_DATA, MAX_PAYLOAD, MIN_CREDIT, credit_cost};
pub use jail::{
    Access, CgroupPlan, FileId, IdMap, Identity, JailSpec, LandlockPlan, Missing, Mount, Namespaces,
    NetworkWall, Walls,
};
pub use kernel_files::{MASKED_PROC, MASKED_PROC_FOR_ROOT};
pub use start::{Lifetime, Limits, Resource, Rlimit, Start, Stdio, WindowSize};
pub use to_cell::ToCell;

/// The version both sides must speak; raised with every change of a frame's meaning.
pub const PROTOCOL_VERSION: u16 = 2;

/// What the keeper of a local cell exits with when the kernel killed the cell's PID 1 because the cell's memory was
/// used up.
pub const EXIT_OUT_OF_MEMORY: i32 = 99;

/// Begins every fatal message that means "what stands at this path is not what was meant".
pub const MOUNT_MISMATCH: &str = "mount-mismatch: ";

/// Begins every fatal message that means "this host does not let us make namespaces", as opposed to a request that
/// can't be carried out: only the former may lead to weaker walls.
pub const NAMESPACES_UNAVAILABLE: &str = "namespaces-unavailable: ";
