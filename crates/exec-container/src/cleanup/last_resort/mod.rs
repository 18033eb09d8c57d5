//! Kills a container's processes without the engine, if they are on this machine's kernel.
//!
//! The last resort: a killed engine leaves its containers running, and a hanging one ends none. The control group
//! shows that a process is ours: the engine named it after the container's id, which is unique.

#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
pub(crate) use linux::kill_processes_of;

/// Engines run on Linux: from other systems their processes are out of reach.
#[cfg(not(target_os = "linux"))]
pub(crate) fn kill_processes_of(_: &str) {}
