//! A way past the engine, where it sees our files and runs on our kernel.
//!
//! Through the engine every word is copied twice and waits for two more processes. A FIFO channel is two named pipes in a directory
//! of its own that is mounted into one container. PID 1 opens them before any command runs; then their names are gone,
//! so that nothing inside can ever reach them. The engine's stream stays as the lifeline: its end is the end, as
//! without a FIFO channel. A FIFO channel that can't be had costs time and nothing else.

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
