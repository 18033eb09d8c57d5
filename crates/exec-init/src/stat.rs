//! Reads `/proc/<pid>/stat`.

use exec_wire::procfs::Stat;
use rustix::fs::{Mode, OFlags};

use crate::sys::Pid;

/// Longer than the line can be up to the last field that is parsed, whatever the name and the numbers.
const ENOUGH: usize = 1024;

/// The kernel's view of a process; none if there is no such process.
pub(crate) fn read(pid: Pid) -> Option<Stat> {
    let path = format!("/proc/{pid}/stat");
    let file = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut bytes = [0; ENOUGH];
    let count = rustix::io::read(file, &mut bytes).ok()?;
    Stat::parse(bytes.get(..count)?)
}
