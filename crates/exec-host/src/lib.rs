//! The parts of the host that a cell may see so that its tools work: the system's directories and the
//! toolchains in home directories, without the rest of the home.
//!
//! This crate only searches and lists; it mounts nothing and knows no sandbox.

mod credentials;
mod secrets;
mod system;
mod toolchains;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use exec_files::UserDirs;
pub use system::SystemEntry;

/// The parts of the host that a command's tools need. All of it is read-only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostView {
    /// Top-level directories and links, in an order in which they can be mounted.
    pub system: Vec<SystemEntry>,
    /// Files and directories within those that an ordinary user could not read either. Searched only [on
    /// request](Self::with_secrets): that takes a walk through all of the system's configuration.
    pub secrets: Vec<PathBuf>,
    /// Toolchains outside the system's directories.
    pub toolchains: Vec<PathBuf>,
    /// Files and directories within the toolchains that hold credentials.
    pub credentials: Vec<PathBuf>,
    /// The caller's home directory, if it has one.
    pub home: Option<PathBuf>,
}

impl HostView {
    /// Inspects this host, for a caller with this environment.
    pub fn look(env: &dyn Fn(&str) -> Option<OsString>) -> Self {
        let home = UserDirs::of(env, None, &|_| false).home;
        let system = system::entries();
        let toolchains = toolchains::find(env, home.as_deref(), &system);
        let credentials = toolchains::credentials(env, home.as_deref(), &toolchains);
        Self { secrets: Vec::new(), toolchains, credentials, system, home }
    }

    /// Adds the system's secrets, for commands that may run as their owner.
    #[must_use]
    pub fn with_secrets(self) -> Self {
        Self { secrets: system_secrets(), ..self }
    }

    /// The home directory, if the command gets its own, empty and writable: not if a path `given` to the
    /// command contains the real one, and not if it is one of the system's.
    pub fn private_home(&self, given: &[&Path]) -> Option<&Path> {
        let home = self.home.as_deref()?;
        let is_system = self.system.iter().any(|entry| home.starts_with(entry.path()));
        let is_given = given.iter().any(|target| home.starts_with(target));
        let is_kernel =
            ["/proc", "/sys", "/dev", "/tmp", "/run"].iter().any(|place| Path::new(place) == home);
        (home.parent().is_some() && !is_system && !is_given && !is_kernel).then_some(home)
    }

    /// The toolchains outside the paths `given` to the command.
    pub fn toolchains_beside<'a>(&'a self, given: &'a [&Path]) -> impl Iterator<Item = &'a Path> {
        beside(&self.toolchains, given)
    }

    /// The system's secrets, except those within a path `given` to the command, and those that contain one:
    /// it could not be mounted.
    pub fn secrets_beside<'a>(&'a self, given: &'a [&Path]) -> impl Iterator<Item = &'a Path> {
        secrets_beside(&self.secrets, given)
    }

    /// The credentials to hide in those toolchains.
    pub fn credentials_beside<'a>(&'a self, given: &'a [&Path]) -> impl Iterator<Item = &'a Path> {
        beside(&self.credentials, given)
    }
}

/// The files and directories that an ordinary user can't read in the system's configuration, and near the top
/// of `/opt` and `/usr/local`, none within another.
///
/// This walks all of that configuration, a thousand files or more.
pub fn system_secrets() -> Vec<PathBuf> {
    secrets::find()
}

/// See [`HostView::secrets_beside`].
pub fn secrets_beside<'a>(secrets: &'a [PathBuf], given: &'a [&Path]) -> impl Iterator<Item = &'a Path> {
    let holds_given = |path: &Path| given.iter().any(|target| target.starts_with(path));
    beside(secrets, given).filter(move |path| !holds_given(path))
}

fn beside<'a>(paths: &'a [PathBuf], given: &'a [&Path]) -> impl Iterator<Item = &'a Path> {
    let is_given = |path: &Path| given.iter().any(|target| path.starts_with(target));
    paths.iter().map(PathBuf::as_path).filter(move |path| !is_given(path))
}
