//! Which image a run gets: the host's own programs, or one by name.

mod host;
mod named;

pub(crate) use host::ensure as ensure_host;
pub(crate) use named::Named;
pub use named::{Progress, PullPolicy};
