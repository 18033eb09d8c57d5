//! Ends a container's processes without its engine, where they are on this machine's kernel.
//!
//! The last resort: an engine that was killed leaves containers running, and one that hangs ends none. A process is ours
//! to end because it is in the control group that the engine named after the container's id, which nobody else has.

#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
pub(crate) use linux::kill_processes_of;

/// Engines run on Linux: from elsewhere their processes are out of reach.
#[cfg(not(target_os = "linux"))]
pub(crate) fn kill_processes_of(_: &str) {}
