//! Systems without process groups: local execution is an error.

use exec_core::{Error, ErrorKind, Executor, Remedy, Result};

use crate::config::{LocalConfig, NAME};

/// Always an error.
#[expect(clippy::unused_async, reason = "the same signature on every system")]
pub(crate) async fn executor(_: &LocalConfig) -> Result<Box<dyn Executor>> {
    Err(Error::new(ErrorKind::Unavailable, "load", "there is no local execution on this system")
        .with_backend(NAME)
        .with_remedy(Remedy::container()))
}
