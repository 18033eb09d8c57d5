//! Commands that report what a process was given.

use std::os::unix::ffi::OsStrExt;

use crate::command::Args;
use crate::sys::{self, Result, STDOUT};

/// Prints the environment, each `NAME=value` followed by a NUL.
pub(crate) fn env(_: &Args<'_>) -> Result<()> {
    let mut bytes = Vec::new();
    for (name, value) in std::env::vars_os() {
        bytes.extend_from_slice(name.as_bytes());
        bytes.push(b'=');
        bytes.extend_from_slice(value.as_bytes());
        bytes.push(0);
    }
    sys::write_all(STDOUT, &bytes)
}

/// Prints the numbers of the open descriptors. Each number is tested, because a listing would need a
/// descriptor itself.
pub(crate) fn fds(_: &Args<'_>) -> Result<()> {
    for fd in 0..4096 {
        // SAFETY: the call only queries.
        if unsafe { libc::fcntl(fd, libc::F_GETFD) } >= 0 {
            sys::say(&fd.to_string())?;
        }
    }
    Ok(())
}

/// Prints real and effective user id.
pub(crate) fn ids(_: &Args<'_>) -> Result<()> {
    // SAFETY: no arguments.
    let (real, effective) = unsafe { (libc::getuid(), libc::geteuid()) };
    sys::say(&format!("{real} {effective}"))
}

/// Prints the kernel's view of the identity and privileges of this process.
pub(crate) fn status(_: &Args<'_>) -> Result<()> {
    const WANTED: [&str; 10] = [
        "Uid:",
        "Gid:",
        "Groups:",
        "CapInh:",
        "CapPrm:",
        "CapEff:",
        "CapBnd:",
        "CapAmb:",
        "NoNewPrivs:",
        "Seccomp:",
    ];
    let text = std::fs::read_to_string("/proc/self/status")?;
    for line in text.lines().filter(|line| WANTED.iter().any(|name| line.starts_with(name))) {
        let words: Vec<&str> = line.split_whitespace().collect();
        sys::say(&words.join(" "))?;
    }
    Ok(())
}
