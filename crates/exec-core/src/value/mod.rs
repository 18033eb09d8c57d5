//! Values that are parsed once, at the edge, and are valid from then on.

mod byte_size;
mod cpus;
mod duration;
mod gpus;
mod mount;
mod network;
mod signal;

pub use byte_size::ByteSize;
pub use cpus::Cpus;
pub use duration::parse_duration;
pub use gpus::Gpus;
pub(crate) use mount::is_plain_absolute;
pub use mount::{Access, MountSpec};
pub use network::Network;
pub use signal::Signal;

use serde::Serialize;

use crate::printable;

/// Text that does not parse: what was given, what was expected, and how to fix it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not {wanted}: {fix}")]
pub struct ParseValueError {
    given: String,
    wanted: &'static str,
    fix: String,
}

impl ParseValueError {
    pub(crate) fn new(given: &str, wanted: &'static str, fix: impl Into<String>) -> Self {
        Self { given: printable::line(given).into_owned(), wanted, fix: fix.into() }
    }
}

/// Size of a terminal in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct WindowSize {
    /// Lines.
    pub rows: u16,
    /// Columns.
    pub cols: u16,
}

impl Default for WindowSize {
    fn default() -> Self {
        Self { rows: 24, cols: 80 }
    }
}
