//! Mistakes in a file: each with its position, all reported at once.

use std::fmt;
use std::path::Path;

use exec_core::printable;
use exec_core::{Error, ErrorKind, Operation, Remedy};

use crate::node::Position;

/// A mistake and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where it is.
    pub at: Position,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl Fault {
    /// A mistake at this place.
    pub fn new(at: Position, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, printable::line(&self.message))
    }
}

/// The most mistakes to list. The author of the file controls their number.
const MOST: usize = 30;

/// All mistakes of a file as one error, in the order of the file.
pub(crate) fn error(path: &Path, faults: Vec<Fault>) -> Error {
    invalid(listed(path, faults))
        .with_remedy(Remedy::from(Operation::DescribeConfiguration).after("correct the file"))
}

/// The mistakes of a file, one per line.
pub fn listed(path: &Path, mut faults: Vec<Fault>) -> String {
    faults.sort_by_key(|fault| fault.at);
    let path = path.display();
    let mut lines: Vec<String> = faults.iter().take(MOST).map(|fault| format!("{path}:{fault}")).collect();
    if faults.len() > MOST {
        lines.push(format!("{path}: and {} mistakes more", faults.len() - MOST));
    }
    lines.join("\n")
}

pub(crate) fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidInput, "read configuration", message)
}

/// An error about a project's file. It stops every run there until a person has reviewed the file.
pub(crate) fn perhaps_planted(error: Error) -> Error {
    let remedy = error.remedy().cloned().unwrap_or_else(|| "remove it".into());
    error.with_remedy(remedy.after("look at it first, a command that ran there may have made it"))
}
