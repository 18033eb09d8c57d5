//! Facts about this machine: the current user, the installed programs, and how to become root.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Directories of programs for all users. A tool in a home directory does not count: an ordinary user cannot
/// reach it, and neither can a command in a cell, which hides home directories.
pub(crate) const SYSTEM_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// How to make changes to the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Privilege {
    Root,
    /// Through `sudo`, which does not ask for a password.
    Sudo,
    None,
}

impl Privilege {
    /// Finds out without prompting.
    pub(crate) fn detect() -> Self {
        if is_root() {
            return Self::Root;
        }
        let mut sudo = Command::new("sudo");
        sudo.args(["-n", "true"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if sudo.status().is_ok_and(|status| status.success()) { Self::Sudo } else { Self::None }
    }

    /// The command that runs `program` as root, if possible.
    pub(crate) fn command(self, program: &str) -> Option<Command> {
        match self {
            Self::Root => Some(Command::new(program)),
            Self::Sudo => {
                let mut sudo = Command::new("sudo");
                sudo.args(["-n", program]);
                Some(sudo)
            }
            Self::None => None,
        }
    }
}

/// Whether we run as root.
pub(crate) fn is_root() -> bool {
    #[cfg(unix)]
    return rustix::process::geteuid().is_root();
    #[cfg(not(unix))]
    return false;
}

/// A program in the system's directories, or at its own path.
pub(crate) fn system_program(name: &str) -> Option<PathBuf> {
    program_in(SYSTEM_PATH, name)
}

fn program_in(path: &str, name: &str) -> Option<PathBuf> {
    path.split(':').map(|dir| Path::new(dir).join(name)).find(|candidate| candidate.is_file())
}

/// Names of the backends that may not be skipped.
pub(crate) fn required_backends() -> Option<String> {
    std::env::var("EXEC_TEST_REQUIRE").ok().filter(|names| !names.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_in_the_first_directory_that_has_it() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("tool"), "").unwrap();
        std::fs::create_dir(dir.path().join("folder")).unwrap();
        let path = format!("/nowhere:{}", dir.path().display());
        assert_eq!(program_in(&path, "tool"), Some(dir.path().join("tool")));
        assert_eq!(program_in(&path, "folder"), None);
        assert_eq!(program_in(&path, "other"), None);
    }

    #[test]
    fn without_privilege_there_is_no_root_command() {
        assert!(Privilege::None.command("true").is_none());
        assert_eq!(Privilege::Root.command("true").unwrap().get_program(), "true");
        assert_eq!(Privilege::Sudo.command("true").unwrap().get_program(), "sudo");
    }
}
