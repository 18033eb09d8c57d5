//! Credentials inside toolchains, where package managers look for them.
//!
//! Found by name: the modes in a home directory do not show which files are secret.

use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};

use exec_files::Dir;

/// Configuration of package managers, which may name a registry together with a token. Tools work without it.
/// `.git` is listed because remote addresses may contain a password; no toolchain needs it.
const NAMES: [&str; 22] = [
    ".condarc",
    ".env",
    ".gemrc",
    ".git",
    ".git-credentials",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".yarnrc",
    ".yarnrc.yml",
    "_netrc",
    "auth.json",
    "auth.toml",
    "bunfig.toml",
    "condarc",
    "credentials",
    "gemrc",
    "gradle.properties",
    "npmrc",
    "pip.conf",
    "pip.ini",
    "settings-security.xml",
];

/// `credentials.toml`, `credentials.json` and the like.
const PREFIX: &str = "credentials.";

/// Maven refuses to run when it can't read this file, and every distribution has one, so it is hidden only if
/// it holds a password.
const MAVEN_SETTINGS: &str = "settings.xml";

/// The most to read of it.
const MOST_SETTINGS: u64 = 1 << 20;

/// The most directories that a `*` matches; further ones are hidden.
const MOST_DIRECTORIES: usize = 256;

/// The credentials in these directories. A place is a directory below a root, in which `*` matches any one
/// name.
pub(crate) fn find<'a>(places: impl Iterator<Item = (PathBuf, &'a str)>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for (root, place) in places {
        for directory in expand(root, place, &mut found) {
            found.extend(entries(&directory).filter(is_credential).filter_map(|entry| real(&entry)));
        }
    }
    found
}

fn entries(directory: &Path) -> impl Iterator<Item = DirEntry> {
    fs::read_dir(directory).into_iter().flatten().flatten()
}

fn expand(root: PathBuf, place: &str, hidden: &mut Vec<PathBuf>) -> Vec<PathBuf> {
    place.split('/').filter(|name| !name.is_empty()).fold(vec![root], |above, name| {
        let below = above.into_iter().flat_map(|directory| match name {
            "*" => directories(&directory),
            name => vec![directory.join(name)],
        });
        let mut below: Vec<PathBuf> = below.collect();
        hidden.extend(below.drain(MOST_DIRECTORIES.min(below.len())..));
        below
    })
}

/// Skips links: their targets within the toolchain are found directly.
fn directories(directory: &Path) -> Vec<PathBuf> {
    let is_directory = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    entries(directory).filter(is_directory).map(|entry| entry.path()).collect()
}

fn is_credential(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    let Some(name) = name.to_str() else { return false };
    NAMES.contains(&name)
        || name.starts_with(PREFIX)
        || (name == MAVEN_SETTINGS && holds_password(&entry.path()))
}

/// The file itself: to hide a link, its target has to be hidden.
fn real(entry: &DirEntry) -> Option<PathBuf> {
    match entry.file_type() {
        Ok(kind) if kind.is_symlink() => fs::canonicalize(entry.path()).ok(),
        _ => Some(entry.path()),
    }
}

/// Whether Maven's settings hold a password outside their comments. Unreadable settings count as if they did.
fn holds_password(settings: &Path) -> bool {
    let (Some(directory), Some(name)) = (settings.parent(), settings.file_name()) else { return true };
    let read = Dir::open(directory).and_then(|dir| dir.read(name, MOST_SETTINGS));
    let Some(text) = read.ok().and_then(|bytes| String::from_utf8(bytes).ok()) else { return true };
    let outside_comments = text.split("<!--").enumerate().map(|(index, part)| match index {
        0 => part,
        _ => part.split_once("-->").map_or("", |(_, rest)| rest),
    });
    outside_comments.flat_map(|part| part.split('<')).any(|element| {
        ["password", "passphrase", "privateKey"].iter().any(|secret| element.starts_with(secret))
    })
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs::{create_dir_all, write};
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    fn tree(files: &[(&str, &str)]) -> TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            create_dir_all(path.parent().unwrap()).unwrap();
            write(path, text).unwrap();
        }
        dir
    }

    fn names(dir: &TempDir, place: &str) -> Vec<String> {
        let mut found = find([(dir.path().canonicalize().unwrap(), place)].into_iter());
        found.sort();
        let root = dir.path().canonicalize().unwrap();
        found.iter().map(|path| path.strip_prefix(&root).unwrap().display().to_string()).collect()
    }

    /// A49
    #[test]
    fn credentials_are_found_by_name_in_every_version() {
        let dir = tree(&[
            ("versions/3.12/pip.conf", "token"),
            ("versions/3.13/credentials.toml", "token"),
            ("versions/3.13/bin/python", ""),
            ("versions/pip.conf", "elsewhere"),
        ]);
        assert_eq!(names(&dir, "versions/*"), ["versions/3.12/pip.conf", "versions/3.13/credentials.toml"]);
        assert_eq!(names(&dir, "versions"), ["versions/pip.conf"]);
        assert_eq!(names(&dir, "missing/*/etc"), Vec::<String>::new());
    }

    #[test]
    fn a_link_is_hidden_where_it_leads() {
        let dir = tree(&[("shared/token", "token"), ("versions/3.12/bin/python", "")]);
        symlink("../../shared/token", dir.path().join("versions/3.12/pip.conf")).unwrap();
        assert_eq!(names(&dir, "versions/*"), ["shared/token"]);
    }

    #[test]
    fn settings_of_maven_are_hidden_where_they_hold_a_password() {
        let dir = tree(&[
            ("plain/settings.xml", "<settings><!-- <password>no</password> --><servers/></settings>"),
            ("server/settings.xml", "<settings><!-- --><password>yes</password></settings>"),
        ]);
        assert_eq!(names(&dir, "*"), ["server/settings.xml"]);
    }

    #[test]
    fn versions_that_were_not_looked_at_are_hidden() {
        let dir = tempfile::tempdir().unwrap();
        for number in 0..=MOST_DIRECTORIES {
            create_dir_all(dir.path().join(number.to_string())).unwrap();
        }
        assert_eq!(names(&dir, "*").len(), 1);
    }
}
