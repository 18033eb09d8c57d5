//! The keeper of a local cell: builds the walls around PID 1, waits outside, and cleans up.
//!
//! The process that starts here stays on the host's side; its child becomes the cell's PID 1 and serves.
//! Every failed step is reported to the host as [`FromCell::Fatal`](exec_wire::FromCell::Fatal). This module
//! knows nothing of commands: [`crate::cell`] handles everything inside the walls.

mod fail;
mod ids;
mod inside;
mod keeper;
mod lifeline;
mod network;
mod root;
mod scratch;
mod spawn;
mod wire;

/// Reads the specification from standard input and keeps the cell to its end.
pub(crate) fn run() -> ! {
    crate::helper::cut_loose();
    let code = match wire::read_spec().and_then(keeper::keep) {
        Ok(code) => code,
        Err(fail) => {
            crate::preface::send_fatal(fail.0);
            1
        }
    };
    crate::sys::exit_now(code)
}
