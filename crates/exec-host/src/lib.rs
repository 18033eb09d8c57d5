//! What of the host a cell may see so that its tools work: the system's directories and the toolchains that
//! live in home directories, without the rest of the home.
//!
//! This crate looks and lists; it mounts nothing and knows no sandbox.

mod system;
mod toolchains;

use std::ffi::OsString;
use std::path::PathBuf;

pub use system::SystemEntry;

/// The parts of the host that make a command's tools work. All of it is for reading only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostView {
    /// Top-level directories and links, in an order in which they can be put in place.
    pub system: Vec<SystemEntry>,
    /// Files and directories within those that an ordinary user could not read either.
    pub secrets: Vec<PathBuf>,
    /// Toolchains outside the system's directories.
    pub toolchains: Vec<PathBuf>,
    /// The caller's home directory, if it has one.
    pub home: Option<PathBuf>,
}

impl HostView {
    /// Looks at this host, for a caller with this environment.
    pub fn look(env: &dyn Fn(&str) -> Option<OsString>) -> Self {
        let home = env("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        let system = system::entries();
        let toolchains = toolchains::find(env, home.as_deref(), &system);
        Self { secrets: system::secrets(), toolchains, system, home }
    }
}
