//! Where configuration files are found.
//!
//! 1. The user's: `$XDG_CONFIG_HOME/agentctl/config.*`, else `~/.config/agentctl/config.*`.
//! 2. The project's: `.agentctl.*` in the workspace and in every directory above it, up to the outermost directory
//!    with a `.git`, and never beyond the home directory. Without a `.git` above it and outside the home directory,
//!    only the workspace counts. A directory above the workspace, and its `.git`, count only if it belongs to us or
//!    root and is not writable by others: a user who can write `/tmp` must not configure commands that run in
//!    `/tmp/x`.
//!
//! All of a project's files count, not only the nearest. A file, or a `.git`, that a command creates in its workspace
//! can hide none of those above it.

use std::path::{Path, PathBuf};

use exec_core::Result;
use exec_files::UserDirs;

use crate::fault::{invalid, perhaps_planted};
use crate::format::EXTENSIONS;
use crate::surroundings::HostEnvironment;

/// The name of the user's file, without the extension.
pub(crate) const USER_STEM: &str = "config";
/// The name of a project's file, without the extension.
pub(crate) const PROJECT_STEM: &str = ".agentctl";

/// Directories that belong to the user, not to a project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Homes {
    /// The home directory.
    pub(crate) home: Option<PathBuf>,
    /// The directory of the user's configuration.
    pub(crate) config: Option<PathBuf>,
    /// The directory of the list of trusted files.
    pub(crate) state: Option<PathBuf>,
}

impl Homes {
    /// Reads them from the environment.
    pub(crate) fn of(host: &impl HostEnvironment) -> Self {
        let variables = host.variables();
        let variable =
            |name: &str| variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.to_owned());
        let UserDirs { home, config, state, .. } = UserDirs::of(&variable, None, &|_| false);
        Self { home, config, state }
    }
}

/// The possible names of a project's configuration file.
pub fn project_file_names() -> impl Iterator<Item = String> {
    EXTENSIONS.iter().map(|(extension, _)| format!("{PROJECT_STEM}.{extension}"))
}

/// The user's own file.
pub(crate) fn user_file(host: &impl HostEnvironment, homes: &Homes) -> Result<Option<PathBuf>> {
    match &homes.config {
        Some(directory) => only_one(host, directory, USER_STEM),
        None => Ok(None),
    }
}

/// The project's files, the outermost first; `workspace` is canonical.
pub(crate) fn project_files(
    host: &impl HostEnvironment,
    homes: &Homes,
    workspace: &Path,
) -> Result<Vec<PathBuf>> {
    let files: Vec<_> = directories(host, homes, workspace)
        .into_iter()
        .map(|place| only_one(host, place, PROJECT_STEM))
        .collect::<Result<_>>()
        .map_err(perhaps_planted)?;
    Ok(files.into_iter().flatten().collect())
}

fn directories<'a>(host: &impl HostEnvironment, homes: &Homes, workspace: &'a Path) -> Vec<&'a Path> {
    let home = homes.home.as_deref().filter(|home| workspace.starts_with(home));
    let within_home = |directory: &&Path| home.is_none_or(|home| directory.starts_with(home));
    let counts = |directory: &&Path| *directory == workspace || host.is_ours(directory);
    let mut directories: Vec<&Path> = workspace.ancestors().take_while(within_home).filter(counts).collect();
    let outermost = directories.iter().rposition(|directory| host.exists(&directory.join(".git")));
    match (outermost, home) {
        (Some(outermost), _) => directories.truncate(outermost + 1),
        (None, Some(_)) => {}
        (None, None) => directories.truncate(1),
    }
    directories.reverse();
    directories
}

/// The existing file of this name in a directory, if any.
pub(crate) fn existing(host: &impl HostEnvironment, directory: &Path, stem: &str) -> Option<PathBuf> {
    candidates(directory, stem).find(|path| host.exists(path))
}

fn candidates(directory: &Path, stem: &str) -> impl Iterator<Item = PathBuf> {
    EXTENSIONS.iter().map(move |(extension, _)| directory.join(format!("{stem}.{extension}")))
}

/// The one file of this name in a directory, in any format. Two are an error: neither takes precedence.
fn only_one(host: &impl HostEnvironment, directory: &Path, stem: &str) -> Result<Option<PathBuf>> {
    let mut found = candidates(directory, stem).filter(|path| host.exists(path));
    match (found.next(), found.next()) {
        (Some(first), Some(second)) => Err(invalid(format!(
            "there are two configurations in one place: `{}` and `{}`",
            first.display(),
            second.display()
        ))
        .with_remedy("move what is in one of them into the other, and remove it")),
        (first, _) => Ok(first),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::surroundings::sample::Sample;

    fn found(host: &Sample, workspace: &str) -> Vec<String> {
        let files = project_files(host, &Homes::of(host), Path::new(workspace)).unwrap();
        files.iter().map(|file| file.display().to_string()).collect()
    }

    /// R61
    #[rstest]
    #[case::nothing(&[], "/srv/p", &[])]
    #[case::in_the_workspace(&["/srv/p/.agentctl.yml"], "/srv/p", &["/srv/p/.agentctl.yml"])]
    #[case::above_it_in_the_repository(&["/srv/p/.git/HEAD", "/srv/p/.agentctl.toml"], "/srv/p/a/b", &["/srv/p/.agentctl.toml"])]
    #[case::not_beyond_the_repository(&["/srv/p/.git/HEAD", "/srv/.agentctl.toml"], "/srv/p/a", &[])]
    #[case::not_above_without_one(&["/tmp/.agentctl.toml"], "/tmp/p", &[])]
    #[case::not_in_a_repository_that_anybody_made(&["/tmp/.git/HEAD", "/tmp/.agentctl.toml"], "/tmp/p", &[])]
    #[case::to_the_home(&["/home/user/.agentctl.toml", "/.agentctl.toml"], "/home/user/p", &["/home/user/.agentctl.toml"])]
    #[case::not_beyond_the_home(&["/.git/HEAD", "/.agentctl.toml"], "/home/user/p", &[])]
    fn a_project_reaches_so_far(#[case] files: &[&str], #[case] workspace: &str, #[case] expected: &[&str]) {
        let host = files.iter().fold(Sample::default(), |host, file| host.file(file, ""));
        assert_eq!(found(&host, workspace), expected);
    }

    /// A38: nothing a command creates in its workspace hides a file above it.
    #[test]
    fn nothing_is_hidden_from_below() {
        let host = Sample::default().file("/srv/p/.git/HEAD", "").file("/srv/p/.agentctl.toml", "");
        let planted = host.file("/srv/p/sub/.git/HEAD", "").file("/srv/p/sub/.agentctl.json", "");
        assert_eq!(found(&planted, "/srv/p/sub"), ["/srv/p/.agentctl.toml", "/srv/p/sub/.agentctl.json"]);
    }

    #[test]
    fn directories_follow_the_environment() {
        let of = |host: Sample| Homes::of(&host);
        let homes = of(Sample::default());
        assert_eq!(homes.config.as_deref(), Some(Path::new("/home/user/.config/agentctl")));
        assert_eq!(homes.state.as_deref(), Some(Path::new("/home/user/.local/state/agentctl")));
        let moved = of(Sample::default().with("XDG_CONFIG_HOME", "/cfg").with("XDG_STATE_HOME", "relative"));
        assert_eq!(moved.config.as_deref(), Some(Path::new("/cfg/agentctl")));
        assert_eq!(moved.state, homes.state);
        assert_eq!(
            of(Sample { variables: std::collections::BTreeMap::new(), ..Sample::default() }),
            Homes::default()
        );
    }
}
