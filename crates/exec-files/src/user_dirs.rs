//! Where this user's programs keep their files, and which of those directories are ours.
//!
//! The one place that reads `HOME` and the `XDG_` variables of the caller.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::os;

/// The variable that names another directory for records.
pub const STATE_DIR_VARIABLE: &str = "AGENTCTL_STATE_DIR";

/// The variable that names another file for the audit log.
pub const AUDIT_FILE_VARIABLE: &str = "AGENTCTL_AUDIT_FILE";

/// The variable that names the home directory.
const HOME_VARIABLE: &str = if cfg!(windows) { "USERPROFILE" } else { "HOME" };

/// The part of a path that is ours.
const NAME: &str = "agentctl";

/// A user's directories, from their environment. Relative paths are ignored, as XDG requires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserDirs {
    /// The home directory.
    pub home: Option<PathBuf>,
    /// The configuration of all the user's programs, engines among them.
    pub config_home: Option<PathBuf>,
    /// The user's configuration of agentctl.
    pub config: Option<PathBuf>,
    /// Files that outlive a restart: the list of trusted files, the audit log.
    pub state: Option<PathBuf>,
    /// The audit log.
    pub audit_file: Option<PathBuf>,
    /// The records of what runs.
    pub records: PathBuf,
    /// The sockets of services that we start.
    pub sockets: PathBuf,
    /// Files that can be made again: PID 1, FIFO channels, locks.
    pub cache: PathBuf,
    /// The sockets of the user's running programs, including an engine's: 2 or 3 of [`of`](Self::of), and 3
    /// if neither exists yet.
    pub runtime: Option<PathBuf>,
}

impl UserDirs {
    /// Those of this process.
    pub fn here() -> Self {
        Self::of(&|name| std::env::var_os(name), os::user_id(), &os::is_own_directory)
    }

    /// Those of an environment and a user; `is_own` reports whether a directory exists and belongs to that
    /// user.
    ///
    /// Records and sockets are in the first of these that exists:
    ///
    /// 1. for root: `/run`. The root of a user namespace does not own `/run`, and has no place there;
    /// 2. `XDG_RUNTIME_DIR`, unless it belongs to another user, as after `su`;
    /// 3. `/run/user/<uid>`;
    /// 4. the directory of temporary files, under names with the user's number.
    pub fn of(
        variable: &dyn Fn(&str) -> Option<OsString>,
        user: Option<u32>,
        is_own: &dyn Fn(&Path) -> bool,
    ) -> Self {
        let path = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = path(HOME_VARIABLE);
        let below_home = |variable: &str, default: &str| {
            path(variable).or_else(|| home.as_ref().map(|home| home.join(default)))
        };
        let ours = |base: Option<PathBuf>| base.map(|base| base.join(NAME));
        let temp = path("TMPDIR").unwrap_or_else(std::env::temp_dir);
        let in_temp = |end: &str| temp.join(format!("{NAME}-{}{end}", user.unwrap_or_default()));
        let conventional = user.map(|user| PathBuf::from(format!("/run/user/{user}")));
        let named = path("XDG_RUNTIME_DIR").into_iter();
        let runtime = named.chain(conventional.clone()).find(|path| is_own(path));
        let system = (user == Some(0)).then(|| PathBuf::from("/run")).filter(|path| is_own(path));
        let running = ours(system.or_else(|| runtime.clone()));
        let state = ours(below_home("XDG_STATE_HOME", ".local/state"));
        let config_home = below_home("XDG_CONFIG_HOME", ".config");
        Self {
            config: ours(config_home.clone()),
            config_home,
            audit_file: path(AUDIT_FILE_VARIABLE).or_else(|| Some(state.as_ref()?.join("audit.jsonl"))),
            records: path(STATE_DIR_VARIABLE)
                .or_else(|| running.clone())
                .unwrap_or_else(|| in_temp("-state")),
            sockets: running.unwrap_or_else(|| in_temp("")),
            cache: ours(below_home("XDG_CACHE_HOME", ".cache")).unwrap_or_else(|| in_temp("")),
            state,
            home,
            runtime: runtime.or(conventional),
        }
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn dirs(variables: &[(&str, &str)], user: u32, others: &[&str]) -> UserDirs {
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        };
        UserDirs::of(&variable, Some(user), &|path| !others.iter().any(|other| Path::new(other) == path))
    }

    #[rstest]
    #[case::named(&[("AGENTCTL_STATE_DIR", "/s"), ("XDG_RUNTIME_DIR", "/x")], 1000, "/s")]
    #[case::root_has_one_place_whatever_sudo_left(&[("XDG_RUNTIME_DIR", "/run/user/1000")], 0, "/run/agentctl")]
    #[case::runtime(&[("XDG_RUNTIME_DIR", "/x")], 1000, "/x/agentctl")]
    #[case::by_convention(&[], 1000, "/run/user/1000/agentctl")]
    #[case::relative_paths_do_not_count(&[("AGENTCTL_STATE_DIR", "s")], 0, "/run/agentctl")]
    fn where_records_are(#[case] variables: &[(&str, &str)], #[case] user: u32, #[case] expected: &str) {
        assert_eq!(dirs(variables, user, &[]).records, Path::new(expected));
    }

    /// In a user namespace.
    #[test]
    fn a_root_that_does_not_own_the_system_has_a_users_place() {
        let found = dirs(&[("XDG_RUNTIME_DIR", "/run/user/1000")], 0, &["/run"]);
        assert_eq!(found.records, Path::new("/run/user/1000/agentctl"));
    }

    /// After `su`, the variable still names the first user's directory.
    #[test]
    fn a_runtime_directory_of_another_user_does_not_count() {
        let found = dirs(&[("XDG_RUNTIME_DIR", "/run/user/0")], 1000, &["/run/user/0"]);
        assert_eq!(found.records, Path::new("/run/user/1000/agentctl"));
        assert_eq!(found.sockets, found.records);
        assert_eq!(found.runtime.as_deref(), Some(Path::new("/run/user/1000")));
    }

    #[test]
    fn without_a_runtime_directory_it_is_with_temporary_files() {
        let found = dirs(&[("TMPDIR", "/t"), ("XDG_RUNTIME_DIR", "/x")], 1000, &["/x", "/run/user/1000"]);
        assert_eq!(found.records, Path::new("/t/agentctl-1000-state"));
        assert_eq!(found.sockets, Path::new("/t/agentctl-1000"));
        assert_eq!(found.cache, Path::new("/t/agentctl-1000"));
        assert_eq!(found.runtime.as_deref(), Some(Path::new("/run/user/1000")), "an engine may still come");
    }

    #[test]
    fn lasting_files_are_below_the_home() {
        let found = dirs(&[("HOME", "/h"), ("XDG_CACHE_HOME", "/c")], 1000, &[]);
        let below = |path: &str| Some(PathBuf::from(path));
        assert_eq!(found.config_home, below("/h/.config"));
        assert_eq!(found.config, below("/h/.config/agentctl"));
        assert_eq!(found.state, below("/h/.local/state/agentctl"));
        assert_eq!(found.audit_file, below("/h/.local/state/agentctl/audit.jsonl"));
        assert_eq!(found.cache, Path::new("/c/agentctl"));
    }
}
