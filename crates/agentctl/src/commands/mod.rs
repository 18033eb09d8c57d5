//! One file per command.

pub(crate) mod completions;
pub(crate) mod doctor;
pub(crate) mod man;
pub(crate) mod run;
pub(crate) mod shell;

use exec_core::Result;

use crate::{exit_code, output};

/// Prints something that is for reading or for a file. A reader that has seen enough is no failure.
fn print(bytes: &[u8]) -> Result<u8> {
    match output::print(&String::from_utf8_lossy(bytes)) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Ok(exit_code::of_output_error(&error))
        }
        _ => Ok(0),
    }
}
