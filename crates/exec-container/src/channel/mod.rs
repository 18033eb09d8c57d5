//! The byte stream between the host and a container's PID 1: through the engine, or bypassing it.

pub(crate) mod attach;
pub(crate) mod fifo;
