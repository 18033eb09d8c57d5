//! One file per command.

pub(crate) mod bootstrap;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod emergency;
pub(crate) mod gc;
pub(crate) mod health;
pub(crate) mod images;
pub(crate) mod man;
#[cfg(feature = "mcp")]
pub(crate) mod mcp;
pub(crate) mod ps;
pub(crate) mod run;
pub(crate) mod shell;
pub(crate) mod stop;
#[cfg(feature = "top")]
pub(crate) mod top;
pub(crate) mod workshop;

use std::io;

use exec_core::{Error, ErrorKind, Result};

use crate::output;

/// Prints text to standard output and returns the exit status. A reader that closes the pipe early is not an
/// error.
fn print(bytes: &[u8]) -> Result<u8> {
    match output::print(&String::from_utf8_lossy(bytes)) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::new(ErrorKind::Io, "print", "can't write to standard output")
                .with_source(error)
                .with_remedy("check where it goes"))
        }
        _ => Ok(0),
    }
}
