//! The events of a run, in order.

use bytes::Bytes;

use crate::Status;

/// An event of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The command was started.
    Started {
        /// Its process id inside the cell.
        pid: u32,
    },
    /// The command wrote output. Order is preserved within a stream. Between the two streams it is the order of reading,
    /// which may differ from the order of writing for writes close together.
    Output {
        /// The stream.
        stream: Stream,
        /// The output.
        bytes: Bytes,
    },
    /// The command's main process ended. Processes that it started may still be alive and write; [`Execution::wait`]
    /// returns when they are gone.
    ///
    /// [`Execution::wait`]: crate::Execution::wait
    Exited(Status),
}

/// An output stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stream {
    /// Standard output; with a terminal, all output.
    Stdout,
    /// Standard error.
    Stderr,
}
