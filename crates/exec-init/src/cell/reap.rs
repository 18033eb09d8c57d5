//! How children ended, in the protocol's terms.

use exec_wire::Status;

use crate::sys::Change;

/// The status to report for an ended child.
pub(crate) fn status_of(change: Change) -> Status {
    match change {
        Change::Exited(code) => Status::Code(code),
        Change::Signalled(signal) => Status::Signal(signal),
        Change::Stopped => Status::Signal(libc::SIGSTOP),
    }
}
