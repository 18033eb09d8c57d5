//! What happens during a run, in order.

use bytes::Bytes;

use crate::Status;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The command runs.
    Started {
        /// Its process id inside the cell.
        pid: u32,
    },
    /// It wrote something. The order within a stream is kept; between the two streams it is that in which they were
    /// read, which for writes close to each other need not be that in which they were written.
    Output {
        /// Where.
        stream: Stream,
        /// What.
        bytes: Bytes,
    },
    /// The command's main process ended. What it started may still be alive and write; [`Execution::wait`]
    /// returns when that is over.
    ///
    /// [`Execution::wait`]: crate::Execution::wait
    Exited(Status),
}

/// An output stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stream {
    /// Standard output; with a terminal, everything.
    Stdout,
    /// Standard error.
    Stderr,
}
