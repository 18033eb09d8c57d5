//! The keeper of a local cell: it builds the walls around PID 1, waits outside, and clears up.
//!
//! The process that starts here stays on the host's side; its child becomes the cell's PID 1 and serves. Every
//! step that fails is told to the host as [`FromCell::Fatal`](exec_wire::FromCell::Fatal). This module knows
//! nothing of commands: what happens inside the walls is the business of [`crate::cell`].

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
            crate::preface::send_fatal(&fail);
            1
        }
    };
    crate::sys::exit_now(code)
}
