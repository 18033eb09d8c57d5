//! Whether a container was killed because its memory was used up, for engines that do not tell.
//!
//! The kernel counts it in the container's control group, which the engine removes a moment after the container has ended:
//! it is looked at when the container's stream ends.

#[cfg(target_os = "linux")]
mod linux;
mod stream_end;

#[cfg(target_os = "linux")]
pub(crate) use linux::killed_for_memory;
pub(crate) use stream_end::StreamEnd;

/// Engines run on Linux: elsewhere their control groups are out of sight.
#[cfg(not(target_os = "linux"))]
pub(crate) fn killed_for_memory(_: &str) -> bool {
    false
}
