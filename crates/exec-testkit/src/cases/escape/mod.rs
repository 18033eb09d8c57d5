//! Attacks from inside a cell. Each has a control outside: the host can do what the cell refuses.

mod files;
mod identity;
mod kernel;
mod network;
mod processes;
mod sockets;
mod syscalls;

use super::Group;

pub(super) const GROUPS: &[Group] = &[
    ("escape::files", files::CASES),
    ("escape::kernel", kernel::CASES),
    ("escape::identity", identity::CASES),
    ("escape::processes", processes::CASES),
    ("escape::network", network::CASES),
    ("escape::sockets", sockets::CASES),
    ("escape::syscalls", syscalls::CASES),
];
