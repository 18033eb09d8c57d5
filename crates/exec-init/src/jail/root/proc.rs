//! The cell's `/proc`: its own processes, and only those kernel files that programs need.
//!
//! Where user 0 inside is user 0 outside, the kernel requires no capability for many of these files, so files
//! that could change the host are read-only for every user.

use exec_wire::{Identity, MASKED_PROC, MASKED_PROC_FOR_ROOT};
use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;

use super::Builder;
use super::attach::{self, Depth, NewFs, READ_ONLY, SAFE};
use super::cover::Null;
use crate::jail::fail::Fail;

/// Readable, but not writable.
const READABLE: [&str; 7] = ["bus", "driver", "fs", "irq", "mtrr", "sys", "sysrq-trigger"];

/// Mounts it at `/proc`.
pub(super) fn mount(builder: &mut Builder, identity: &Identity) -> Result<(), Fail> {
    let flags = SAFE.union(attach::NO_PROGRAMS);
    // Refused where the host's own /proc is covered in part, as in most containers.
    let proc = NewFs::open("proc")
        .and_then(|fs| fs.mount(flags))
        .map_err(|why| Fail::wall("mount", "a /proc for the cell", why))?;
    let point = builder.root.directory(b"/proc")?;
    attach::over(&proc, &point, "").map_err(|why| Fail::wall("mount", "/proc", why))?;
    let at =
        |name: &str| openat(&proc, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty());
    for name in READABLE {
        let done = at(name).and_then(|point| {
            let same = attach::clone_of(&point, "", Depth::All)?;
            attach::restrict(&same, flags.union(READ_ONLY), Depth::All)?;
            attach::over(&same, &point, "")
        });
        skip_missing(done).map_err(|why| Fail::wall("make read-only", format_args!("/proc/{name}"), why))?;
    }
    let for_root: &[&str] = if identity.uid == 0 { &MASKED_PROC_FOR_ROOT } else { &[] };
    for name in MASKED_PROC.iter().chain(for_root) {
        let done = at(name).and_then(|point| builder.covers.put(&point, Null::Empty));
        skip_missing(done).map_err(|why| Fail::wall("mask", format_args!("/proc/{name}"), why))?;
    }
    Ok(())
}

fn skip_missing(result: Result<(), Errno>) -> Result<(), Errno> {
    match result {
        Err(Errno::NOENT) => Ok(()),
        other => other,
    }
}
