//! Platform code: each system provides `executor`, its strongest local execution.

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
