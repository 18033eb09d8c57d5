//! Whether a container was killed because its memory was used up, for engines that do not tell.
//!
//! The kernel counts it in the container's control group, which goes a moment after the container has ended. On control groups
//! v2 the kernel also tells of the count's change, before the killed process has ended: [`Notice`] listens. On v1, the
//! group is looked at when the container's stream ends.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod notice;
mod stream_end;

#[cfg(target_os = "linux")]
pub(crate) use linux::killed_for_memory;
#[cfg(target_os = "linux")]
pub(crate) use notice::Notice;
pub(crate) use stream_end::StreamEnd;

/// Engines run on Linux: elsewhere their control groups are out of sight.
#[cfg(not(target_os = "linux"))]
pub(crate) fn killed_for_memory(_: &str) -> bool {
    false
}

/// Nor do they tell of anything.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub(crate) struct Notice;

#[cfg(not(target_os = "linux"))]
impl Notice {
    pub(crate) fn listen(_: String, _: impl FnOnce() + Send + 'static) -> Self {
        Self
    }
}
