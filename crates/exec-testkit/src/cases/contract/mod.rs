//! One module for each sentence of `Executor`'s contract.

mod bytes;
mod cancel;
mod dropped;
mod env;
mod errors;
mod exit;
mod isolation;
mod limits;
mod order;
mod output;
mod session;
mod shell;
mod signal;
mod stdin;
mod time;
mod tty;
mod wait;

use super::Group;

pub(super) const GROUPS: &[Group] = &[
    ("contract::exit", exit::CASES),
    ("contract::errors", errors::CASES),
    ("contract::bytes", bytes::CASES),
    ("contract::env", env::CASES),
    ("contract::stdin", stdin::CASES),
    ("contract::output", output::CASES),
    ("contract::order", order::CASES),
    ("contract::wait", wait::CASES),
    ("contract::dropped", dropped::CASES),
    ("contract::cancel", cancel::CASES),
    ("contract::signal", signal::CASES),
    ("contract::time", time::CASES),
    ("contract::limits", limits::CASES),
    ("contract::tty", tty::CASES),
    ("contract::session", session::CASES),
    ("contract::isolation", isolation::CASES),
    ("contract::shell", shell::CASES),
];
