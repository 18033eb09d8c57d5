//! The calls behind [`Dir`](crate::Dir), implemented for each system.

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub(crate) use unix::*;

#[cfg(not(unix))]
mod other;
#[cfg(not(unix))]
pub(crate) use other::*;

/// The purpose of opening a file.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Access {
    /// Reading.
    Read,
    /// Appending; a missing file is created with this mode.
    Append {
        /// The mode of a new file.
        create: Option<u32>,
    },
    /// Writing a new file.
    Create {
        /// Its mode.
        mode: u32,
    },
}

/// What to remove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Removed {
    /// Anything but a directory.
    File,
    /// An empty directory.
    Directory,
}
