//! Which image a run gets: the host's own programs, one by name, or one of the workspace's own Dockerfile.

mod build;
mod host;
mod named;

pub(crate) use build::{Builder, dockerfile};
pub(crate) use host::HostImage;
pub(crate) use named::Named;
pub use named::{Progress, PullPolicy};

use exec_core::{Error, ErrorKind};

/// A specification was wanted before its image was found, or just when it was removed.
fn not_looked_up(name: &str) -> Error {
    let message = format!("the image `{name}` is not known to be on the engine");
    Error::new(ErrorKind::ImageNotFound, "image", message)
        .with_remedy("try again: it is looked up, and pulled or made anew")
}
