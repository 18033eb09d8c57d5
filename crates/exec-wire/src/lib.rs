//! The frames between a cell's PID 1 (`exec-init`) and its host.
//!
//! One byte stream each way. A frame is a nine-byte [`Header`] and a payload; every run has a number, so one
//! stream carries many runs. Output flows only against credit from the host, input only against credit from
//! the cell: neither side ever queues bytes that the other does not read. The [`reaper`] has its own protocol
//! of text lines.
//!
//! The parsers in [`procfs`] are here because both sides need them.
//!
//! This crate knows no I/O, no async runtime and no operating system: bytes in, values out. For any bytes,
//! decoding returns a value or a [`WireError`]; it never panics and never allocates more than the frame's
//! checked length.
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
mod fatal;
mod from_cell;
mod header;
mod jail;
mod kernel_files;
mod note;
pub mod procfs;
pub mod reaper;
mod start;
mod to_cell;

pub use container::{ContainerPlan, Expected, FIFO_ANSWER, FIFO_DIRECTORY, FIFO_IN, FIFO_OUT};
pub use error::WireError;
pub use fatal::Fatal;
pub use from_cell::{
    CgroupVersion, Closed, EndReason, Exited, Facts, Failed, FromCell, ReadBack, Stage, Status,
};
pub use header::{HEADER_LEN, Header, MAX_AFTER_EXIT, MAX_DATA, MAX_PAYLOAD, MIN_CREDIT, credit_cost};
pub use jail::{
    Access, CgroupPlan, FileId, IdMap, Identity, JailSpec, LandlockPlan, Missing, Mount, Namespaces,
    NetworkWall, Walls,
};
pub use kernel_files::{MASKED_PROC, MASKED_PROC_FOR_ROOT};
pub use note::{Note, Subject};
pub use start::{Lifetime, Limits, Resource, Rlimit, Start, Stdio, WindowSize};
pub use to_cell::ToCell;

/// The protocol version, which both sides must share; raised with every change of a frame's meaning.
pub const PROTOCOL_VERSION: u16 = 3;

/// The exit code of a local cell's keeper if the kernel killed the cell's PID 1 because the cell's memory was
/// used up.
pub const EXIT_OUT_OF_MEMORY: i32 = 99;
