//! The cell's `/dev`: six harmless devices of the host, private terminals, shared memory.

use std::os::fd::OwnedFd;

use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, mkdirat, openat, symlinkat};
use rustix::io::Errno;

use super::attach::{self, Depth, NO_PROGRAMS, NewFs, READ_ONLY, SAFE};
use super::place::Root;
use crate::jail::fail::Fail;

const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];

const LINKS: [(&str, &str); 5] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];

/// Mounts it at `/dev`.
pub(super) fn mount(root: &Root, shm_size: u64) -> Result<(), Fail> {
    let fail = |on: &str, why: Errno| Fail::new("mount", format_args!("/dev{on}"), why);
    let point = root.directory(b"/dev")?;
    let dev =
        NewFs::tmpfs(64 * 1024, 0o755).and_then(|fs| fs.mount(NO_PROGRAMS)).map_err(|why| fail("", why))?;
    attach::over(&dev, &point, "").map_err(|why| fail("", why))?;
    for name in DEVICES {
        device(&dev, name).map_err(|why| Fail::new("bind", format_args!("/dev/{name}"), why))?;
    }
    for (name, to) in LINKS {
        symlinkat(to, &dev, name).map_err(|why| Fail::new("symlink", format_args!("/dev/{name}"), why))?;
    }
    terminals(&dev).map_err(|why| fail("/pts", why))?;
    shared_memory(&dev, shm_size).map_err(|why| fail("/shm", why))?;
    attach::restrict(&dev, READ_ONLY, Depth::One).map_err(|why| fail("", why))
}

fn device(dev: &OwnedFd, name: &str) -> Result<(), Errno> {
    let node = attach::clone_of(CWD, &format!("/dev/{name}"), Depth::One)?;
    if FileType::from_raw_mode(fstat(&node)?.st_mode) != FileType::CharacterDevice {
        return Err(Errno::NXIO);
    }
    attach::restrict(&node, NO_PROGRAMS, Depth::One)?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let point = openat(dev, name, flags, Mode::from_raw_mode(0o644))?;
    attach::over(&node, &point, "")
}

/// The most terminals at once: the host has a few thousand for all users.
const TERMINALS: &str = "256";

/// A private instance, without the host's terminals.
fn terminals(dev: &OwnedFd) -> Result<(), Errno> {
    let fs = NewFs::open("devpts")?.with("ptmxmode", "0666")?.with("mode", "0620")?.with("max", TERMINALS)?;
    let fs = fs.mount(NO_PROGRAMS)?;
    mount_in(dev, "pts", &fs)
}

fn shared_memory(dev: &OwnedFd, size: u64) -> Result<(), Errno> {
    let fs = NewFs::tmpfs(size, 0o1777)?.mount(SAFE)?;
    mount_in(dev, "shm", &fs)
}

fn mount_in(dev: &OwnedFd, name: &str, fs: &OwnedFd) -> Result<(), Errno> {
    mkdirat(dev, name, Mode::from_raw_mode(0o755))?;
    attach::over(fs, dev, name)
}
