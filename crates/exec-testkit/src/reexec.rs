//! Starts this test program again with secrets in its environment, and opens a descriptor that must not be
//! inherited.
//!
//! The environment of a process with threads can't be changed, and what the cases look for inside a cell must
//! exist outside.

use std::env;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// A secret that no command may see.
pub(crate) const SECRET: (&str, &str) = ("EXEC_TESTKIT_SECRET", "s3cret-of-the-caller");

/// Set in the caller's environment, although no command may see them. The library is one that is loaded
/// anyway.
pub(crate) const PLANTED: &[(&str, &str)] =
    &[SECRET, ("LD_PRELOAD", "libc.so.6"), ("BASH_ENV", "/dev/null"), ("ENV", "/dev/null")];

/// An allowed variable.
pub(crate) const ALLOWED: (&str, &str) = ("TZ", "Antarctica/Troll");

/// Re-executes this program, unless it already was.
pub(crate) fn with_planted_environment() -> io::Result<()> {
    if env::var_os(SECRET.0).is_some() {
        return Ok(());
    }
    let mut again = Command::new(env::current_exe()?);
    again.args(env::args_os().skip(1)).envs(PLANTED.iter().copied()).env(ALLOWED.0, ALLOWED.1);
    again.env("PATH", path_with_a_relative_part());
    Err(again.exec())
}

/// Opens a descriptor that every child inherits unless it is closed.
pub(crate) fn leak_a_descriptor() -> io::Result<()> {
    let file = std::fs::File::open("/dev/null")?;
    // A duplicate, unlike the files the standard library opens, is inherited.
    std::mem::forget(rustix::io::dup(file)?);
    Ok(())
}

/// Puts `.` last, so that programs found elsewhere are unaffected.
fn path_with_a_relative_part() -> OsString {
    let mut path = env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    path.push(":.");
    path
}
