//! Finds programs of the host, and none that a command could have written.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use which::WhichConfig;

use crate::could_be_a_commands;
use crate::resolve::holds_programs;

/// Where programs that run on the host are looked up: the entries of a `PATH` that are absolute and outside every
/// directory that a command could ever write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchPath(OsString);

impl SearchPath {
    /// The search path of this process.
    pub fn here() -> Self {
        Self::of(&std::env::var_os("PATH").unwrap_or_default())
    }

    fn of(path: &OsStr) -> Self {
        let is_ours = |part: &PathBuf| part.is_absolute() && !could_be_a_commands(part);
        // Entries of a split path can be joined again.
        Self(std::env::join_paths(std::env::split_paths(path).filter(is_ours)).unwrap_or_default())
    }

    /// The entries for a service that `program` becomes: the places that no command is ever given for writing, and the
    /// directory of the program. A service outlives the question whether a directory is a command's: it looks programs up
    /// while commands run.
    #[must_use]
    pub fn of_service(&self, program: &Path) -> Self {
        let is_kept = |part: &PathBuf| holds_programs(part) || program.parent() == Some(part);
        Self(std::env::join_paths(std::env::split_paths(&self.0).filter(is_kept)).unwrap_or_default())
    }

    /// The first program of this name.
    pub fn find(&self, name: &str) -> Option<PathBuf> {
        self.find_all(name).next()
    }

    /// Every program of this name, in the order of the path. Links into a directory that a command could write are
    /// skipped.
    pub fn find_all(&self, name: &str) -> impl Iterator<Item = PathBuf> + use<> {
        // An empty list would mean the working directory, and a name with a separator any directory at all.
        let is_plain = !self.0.is_empty() && Path::new(name).file_name() == Some(OsStr::new(name));
        let search = WhichConfig::new().system_cwd(false).custom_path_list(self.0.clone());
        let found = is_plain.then(|| search.binary_name(name.into()).all_results());
        let found = found.and_then(Result::ok).into_iter().flatten();
        found.filter(|program| !could_be_a_commands(program))
    }

    /// The value of `PATH` for programs that run on the host.
    pub fn as_os_str(&self) -> &OsStr {
        &self.0
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    use tempfile::TempDir;

    use super::*;

    const NAME: &str = "agentctl-test-program";

    /// A directory with a program in it.
    fn place() -> (TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().canonicalize().unwrap().join(NAME);
        fs::write(&program, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
        (dir, program)
    }

    /// The path relative to the working directory.
    fn relative(path: &Path) -> PathBuf {
        let up = std::env::current_dir().unwrap().components().skip(1).map(|_| "..").collect::<PathBuf>();
        up.join(path.strip_prefix("/").unwrap())
    }

    fn search(parts: &[&Path]) -> SearchPath {
        SearchPath::of(&std::env::join_paths(parts).unwrap())
    }

    #[test]
    fn programs_are_found_in_order() {
        let ((_a, first), (_b, second)) = (place(), place());
        let (first_dir, second_dir) = (first.parent().unwrap(), second.parent().unwrap());
        let path = search(&[Path::new("/no/such/place"), first_dir, second_dir]);
        assert_eq!(path.find_all(NAME).collect::<Vec<_>>(), [first.clone(), second.clone()]);
        fs::set_permissions(&first, Permissions::from_mode(0o644)).unwrap();
        assert_eq!(path.find(NAME), Some(second.clone()), "the first can't be executed");
        fs::remove_file(&second).unwrap();
        fs::create_dir(&second).unwrap();
        assert_eq!(path.find(NAME), None, "a directory is not a program");
    }

    /// A32: a service looks programs up while commands run, also in directories that no command could write when it started.
    #[test]
    fn a_service_searches_only_where_no_command_writes() {
        let ((_a, program), (_b, other)) = (place(), place());
        let system = Path::new("/usr/bin");
        let path = search(&[other.parent().unwrap(), program.parent().unwrap(), system]);
        let expected = std::env::join_paths([program.parent().unwrap(), system]).unwrap();
        assert_eq!(path.of_service(&program).as_os_str(), expected);
        assert_eq!(path.of_service(&system.join("engine")).as_os_str(), system);
    }

    /// A32: `which` by itself looks in relative entries.
    #[test]
    fn relative_entries_do_not_count() {
        let (_dir, program) = place();
        let directory = relative(program.parent().unwrap());
        let control = which::which_in_global(NAME, Some(&directory)).unwrap().next();
        assert_eq!(control, Some(directory.join(NAME)), "the control");
        assert_eq!(search(&[&directory]).find(NAME), None);
        assert_eq!(search(&[&directory, Path::new("/bin"), Path::new("")]).as_os_str(), "/bin");
    }

    /// A32: `which` by itself accepts any path, wherever it leads.
    #[test]
    fn a_path_is_not_a_name() {
        let (_dir, program) = place();
        let bin = search(&[Path::new("/bin")]);
        for path in [Path::new("..").join(relative(&program)), program] {
            let control = which::which_in_global(&path, Some("/bin")).unwrap().next();
            assert!(control.is_some(), "the control");
            assert_eq!(bin.find(path.to_str().unwrap()), None);
        }
    }

    /// A32: `which` by itself takes an empty list for the working directory. Runs again in its own process, whose
    /// working directory holds the program.
    #[test]
    fn an_empty_path_is_not_the_working_directory() {
        if Path::new(NAME).exists() {
            let control = which::which_in_global(NAME, Some("")).unwrap().next();
            assert_eq!(control.as_deref(), Some(Path::new(NAME)), "the control");
            assert_eq!(SearchPath::of(OsStr::new(".")).find(NAME), None);
            return;
        }
        let (dir, _) = place();
        let mut again = Command::new(std::env::current_exe().unwrap());
        again.args([
            concat!(module_path!(), "::an_empty_path_is_not_the_working_directory")
                .split_once("::")
                .unwrap()
                .1,
            "--exact",
        ]);
        let output = again.current_dir(dir.path()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("1 passed"), "{said}");
    }
}
