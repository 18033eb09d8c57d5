//! Detects that a container was killed for lack of memory, for engines that do not report it.
//!
//! The kernel counts such kills in the container's control group, which is removed shortly after the container ends.
//! On control groups v2 the kernel also signals a change of the count before the killed process has ended: [`Notice`]
//! waits for that. On v1, the count is read when the container's stream ends.

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

/// Engines run on Linux: from other systems their control groups are not visible.
#[cfg(not(target_os = "linux"))]
pub(crate) fn killed_for_memory(_: &str) -> bool {
    false
}

/// Never signalled on this system.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub(crate) struct Notice;

#[cfg(not(target_os = "linux"))]
impl Notice {
    pub(crate) fn listen(_: String, _: impl FnOnce() + Send + 'static) -> Self {
        Self
    }
}
