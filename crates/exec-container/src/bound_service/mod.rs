//! A program that ends when we do, however we end, but not before our containers are cleaned up.

#[cfg(target_os = "linux")]
mod process;

#[cfg(target_os = "linux")]
pub use process::{BoundService, Lifeline};

/// Not supported on this system.
#[cfg(not(target_os = "linux"))]
#[derive(Debug, Clone)]
pub enum Lifeline {}

/// Not supported on this system.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub enum BoundService {}

#[cfg(not(target_os = "linux"))]
impl BoundService {
    /// Starts nothing.
    #[expect(clippy::unnecessary_wraps, reason = "the same call as where there are such programs")]
    pub fn spawn(
        _: &std::path::Path,
        _: &[std::ffi::OsString],
        _: impl FnOnce(&mut std::process::Command),
    ) -> std::io::Result<Option<Self>> {
        Ok(None)
    }

    /// Never called: nothing is started.
    pub fn has_ended(&mut self) -> std::io::Result<bool> {
        match *self {}
    }

    /// Never called: nothing is started.
    pub fn lifeline(&self) -> Lifeline {
        match *self {}
    }
}
