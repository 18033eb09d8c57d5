//! A project in memory: which files exist, and the text of the relevant ones. No disk access.

use std::collections::{BTreeMap, BTreeSet};

use exec_core::{Error, ErrorKind, Result};

/// What is known of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Its complete text.
    Text(String),
    /// It exists, and is too long to be worth reading.
    Unread,
    /// It exists and can't be read, and why.
    Unreadable(String),
}

/// Files by their path from the top of the project, with forward slashes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    files: BTreeMap<String, Content>,
    directories: BTreeSet<String>,
    odd: BTreeSet<String>,
}

impl Tree {
    /// A project made of these files, without a disk.
    pub fn of_texts<P: Into<String>, T: Into<String>>(files: impl IntoIterator<Item = (P, T)>) -> Self {
        let mut tree = Self::default();
        files.into_iter().for_each(|(path, text)| tree.add(path, Content::Text(text.into())));
        tree
    }

    /// Adds a file.
    pub fn add(&mut self, path: impl Into<String>, content: Content) {
        let path = path.into();
        if !is_plain(&path) {
            self.odd.insert(path);
            return;
        }
        self.add_directory(directory(&path));
        self.files.insert(path, content);
    }

    /// Adds a directory and those above it.
    pub(crate) fn add_directory(&mut self, path: &str) {
        let mut path = path;
        while !path.is_empty() && self.directories.insert(path.to_owned()) {
            path = directory(path);
        }
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    pub(crate) fn has_directory(&self, path: &str) -> bool {
        self.directories.contains(path)
    }

    /// The names of the subdirectories of a directory.
    pub(crate) fn directories_in(&self, place: &str) -> Vec<&str> {
        let names = self.directories.iter().filter_map(|path| path.strip_prefix(place)?.strip_prefix('/'));
        names.filter(|name| !name.contains('/')).collect()
    }

    /// The text of a file; `None` if it does not exist or is too long to be read.
    pub(crate) fn text(&self, path: &str) -> Result<Option<&str>> {
        match self.files.get(path) {
            Some(Content::Text(text)) => Ok(Some(text.strip_prefix('\u{feff}').unwrap_or(text))),
            Some(Content::Unreadable(why)) => {
                Err(Error::new(ErrorKind::InvalidInput, "bootstrap", format!("can't read {path}: {why}"))
                    .with_remedy(format!("make {path} a file that you can read, or remove it")))
            }
            Some(Content::Unread) | None => Ok(None),
        }
    }

    /// Every file of this name, those nearest to the top first.
    pub(crate) fn named(&self, name: &str) -> Vec<&str> {
        self.matching(|path| file_name(path) == name)
    }

    /// Every file with a matching path, those nearest to the top first.
    pub(crate) fn matching(&self, wanted: impl Fn(&str) -> bool) -> Vec<&str> {
        let mut paths: Vec<&str> =
            self.files.keys().map(String::as_str).filter(|path| wanted(path)).collect();
        paths.sort_by_key(|path| (depth(path), *path));
        paths
    }

    /// Files that are ignored because of their names.
    pub(crate) fn odd(&self) -> impl Iterator<Item = &str> {
        self.odd.iter().map(String::as_str)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

/// Paths become part of commands and instructions, so those that would need quoting are left out.
fn is_plain(path: &str) -> bool {
    !path.starts_with('-') && path.chars().all(|c| c.is_ascii_alphanumeric() || "._-+@/".contains(c))
}

/// The parent directory of a path; empty for the top.
pub(crate) fn directory(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// The path of a file in a directory.
pub(crate) fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}

pub(crate) fn depth(path: &str) -> usize {
    path.matches('/').count()
}

/// Whether a path is a directory or below it.
pub(crate) fn is_below(path: &str, directory: &str) -> bool {
    directory.is_empty()
        || path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_to_the_top_comes_first() {
        let tree = Tree::of_texts([("a/b/go.mod", ""), ("z/go.mod", ""), ("go.mod", "")]);
        assert_eq!(tree.named("go.mod"), ["go.mod", "z/go.mod", "a/b/go.mod"]);
        assert!(tree.has_directory("a/b") && tree.has_directory("a") && !tree.has_directory(""));
    }

    #[test]
    fn a_sibling_with_a_longer_name_is_not_below() {
        assert!(is_below("web/app", "web") && is_below("web", "web") && is_below("x", ""));
        assert!(!is_below("website", "web"));
    }
}
