//! What differs from system to system: each brings `executor`, the strongest local execution it has.

#[cfg(target_os = "linux")]
pub(crate) mod linux;
#[cfg(unix)]
mod process_group;

#[cfg(target_os = "linux")]
pub(crate) use linux::executor;
#[cfg(all(unix, not(target_os = "linux")))]
pub(crate) use process_group::executor;
#[cfg(not(unix))]
mod unsupported;
#[cfg(not(unix))]
pub(crate) use unsupported::executor;
