//! FIFO channels bypass an engine that sees our files and runs on our kernel.
//!
//! Through the engine, every frame is copied twice and waits for two more processes. A FIFO channel is two named
//! pipes in a directory that is mounted into one container. PID 1 opens them before any command runs; then their
//! names are removed, so nothing inside can ever reach them. The engine's stream stays as the lifeline: when it ends,
//! the cell ends, as without a FIFO channel. Failing to get a FIFO channel costs only time.

#[cfg(target_os = "linux")]
mod leftovers;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod none;
mod stream;

#[cfg(target_os = "linux")]
pub(crate) use linux::{FifoChannel, FifoChannels, clear};
#[cfg(not(target_os = "linux"))]
pub(crate) use none::{FifoChannel, FifoChannels, clear};
