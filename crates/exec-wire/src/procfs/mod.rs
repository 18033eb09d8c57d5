//! Parsers for the kernel's text files in `/proc` that more than one crate reads.
//!
//! They live here because PID 1 and the host both need them, and this is the one crate that both depend on. A command
//! chooses its process name and some mount points, so the input is bytes and may be hostile: parsing returns a value or
//! nothing, whatever the bytes.

mod mountinfo;
mod stat;

pub use mountinfo::{Mount, mounts};
pub use stat::Stat;
