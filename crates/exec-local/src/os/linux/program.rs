//! Loads the embedded `exec-init`, with errors for the user.

use std::sync::Arc;

use exec_core::{Error, ErrorKind, Remedy, Result};
use exec_init::Executable;

use crate::config::NAME;

/// Puts the program where it can be executed.
pub(crate) fn load() -> Result<Arc<Executable>> {
    let loaded = Executable::load().map_err(|error| {
        Error::new(ErrorKind::Io, "load", "exec-init could not be put where it can be executed")
            .with_backend(NAME)
            .with_source(error)
            .with_remedy(Remedy::host(
                "check that the temporary directory is writable and not mounted noexec",
            ))
    })?;
    loaded.ok_or_else(|| {
        Error::new(ErrorKind::Unavailable, "load", "there is no exec-init for this architecture")
            .with_backend(NAME)
            .with_context("architecture", std::env::consts::ARCH)
            .with_remedy(Remedy::container().or(Remedy::host("build for x86_64 or aarch64")))
    })
}
