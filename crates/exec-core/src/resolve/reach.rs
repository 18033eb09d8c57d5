//! Keeps our own places out of a command's reach.

use std::path::Path;

use exec_files::OwnPlaces;

use super::invalid;
use crate::{DangerousMounts, Remedy, Result};

/// Refuses a canonical path that contains one of our places or lies in one.
pub(super) fn check(path: &Path, own: &OwnPlaces, policy: DangerousMounts, what: &str) -> Result<()> {
    match own.reached_through(path).filter(|_| policy == DangerousMounts::Refuse) {
        None => Ok(()),
        Some(reached) => Err(invalid(format!(
            "the {what} `{}` is refused: a command would reach {} in `{}`",
            path.display(),
            reached.what,
            reached.path.display()
        ))
        .with_remedy(Remedy::from("name another directory").or(Remedy::dangerous_mounts()))),
    }
}
