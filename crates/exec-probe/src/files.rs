//! Commands that try file operations and report the result.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::FromRawFd;

use crate::command::Args;
use crate::errno::Errno;
use crate::sys::{self, Result};

/// `read PATH`: prints `ok` and the number of bytes of the first read.
pub(crate) fn read(args: &Args<'_>) -> Result<()> {
    let mut buffer = [0; 64];
    let count = File::open(args.text(0))?.read(&mut buffer)?;
    sys::say(&format!("ok {count}"))
}

/// `write PATH`: opens it for writing, creating it if missing, and writes a byte.
pub(crate) fn write(args: &Args<'_>) -> Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(false).open(args.text(0))?;
    file.write_all(b"x")?;
    sys::say("ok")
}

/// `may-write PATH`: opens an existing file for writing, and writes nothing.
pub(crate) fn may_write(args: &Args<'_>) -> Result<()> {
    OpenOptions::new().write(true).open(args.text(0))?;
    sys::say("ok")
}

/// `link FROM TO`: makes a hard link.
pub(crate) fn link(args: &Args<'_>) -> Result<()> {
    fs::hard_link(args.text(0), args.text(1))?;
    sys::say("ok")
}

/// `readlink PATH…`
pub(crate) fn readlink(args: &Args<'_>) -> Result<()> {
    for path in args.words {
        sys::say(&fs::read_link(path)?.to_string_lossy())?;
    }
    Ok(())
}

/// `fill PATH BYTES`: prints how many bytes were written.
pub(crate) fn fill(args: &Args<'_>) -> Result<()> {
    write_until(File::create(args.text(0))?, args.number(1))
}

/// `memfd BYTES`: writes this many bytes to a file in memory that is mapped nowhere.
pub(crate) fn memfd(args: &Args<'_>) -> Result<()> {
    // SAFETY: the name is a terminated string.
    let fd = sys::check(unsafe { libc::memfd_create(c"probe".as_ptr(), 0) })?;
    // SAFETY: nothing else owns this descriptor.
    write_until(unsafe { File::from_raw_fd(fd) }, args.number(0))
}

fn write_until(mut file: File, wanted: usize) -> Result<()> {
    let block = vec![b'x'; 1 << 16];
    let mut written = 0;
    while written < wanted {
        match file.write(&block) {
            Ok(count) => written += count,
            Err(error) => return sys::say(&format!("errno {} after {written}", Errno::of(&error).name())),
        }
    }
    sys::say(&format!("wrote {written}"))
}
