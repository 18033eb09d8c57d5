//! This machine's side: files in our cache, locks between our processes, and the limits of this process.

pub(crate) mod cache;
pub(crate) mod facts;
pub(crate) mod fingerprint;
pub(crate) mod process_lock;
