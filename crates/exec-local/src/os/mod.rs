//! What differs from system to system: each brings `executor`, the strongest local execution it has.

#[cfg(target_os = "linux")]
pub(crate) mod linux;
#[cfg(unix)]
mod process_group;

#[cfg(target_os = "linux")]
pub(crate) use linux::executor;
