//! The calls behind [`Dir`](crate::Dir), which each system has in its own way.

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub(crate) use unix::*;

#[cfg(not(unix))]
mod other;
#[cfg(not(unix))]
pub(crate) use other::*;

/// What a file is opened for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Access {
    /// To be read.
    Read,
    /// To be appended to; a missing file is made with this mode.
    Append {
        /// The mode of a new file.
        create: Option<u32>,
    },
    /// To be written, and new.
    Create {
        /// Its mode.
        mode: u32,
    },
}

/// What is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Removed {
    /// Anything but a directory.
    File,
    /// An empty directory.
    Directory,
}
