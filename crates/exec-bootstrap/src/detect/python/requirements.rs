//! pip's requirement files: which ones a project has, and which files they include.

use std::collections::BTreeSet;

use exec_core::Result;

use super::packages::FOR_TESTS;
use crate::document;
use crate::tree::{Tree, directory, file_name, join};

/// The lists of one directory.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// Those to install.
    pub(super) installed: Vec<String>,
    /// Every file that is needed, including includes and constraints.
    pub(super) files: Vec<String>,
    /// The packages in them.
    pub(super) names: BTreeSet<String>,
    /// Whether a line refers to files of the project.
    pub(super) is_local: bool,
}

impl Lists {
    pub(super) fn of(tree: &Tree, place: &str) -> Result<Self> {
        let installed: Vec<String> =
            tree.matching(|path| is_wanted(path, place)).into_iter().map(str::to_owned).collect();
        let mut lists = Self { files: installed.clone(), installed, ..Self::default() };
        let mut next = 0;
        while let Some(path) = lists.files.get(next).cloned() {
            next += 1;
            for line in document::text(tree, &path)?.unwrap_or_default().lines() {
                lists.is_local |= is_local(line);
                lists.names.extend(name(line));
                let included = included(line).map(|name| join(directory(&path), name));
                let is_new = |path: &String| tree.has(path) && !lists.files.contains(path);
                lists.files.extend(included.filter(is_new));
            }
        }
        lists.files.sort();
        Ok(lists)
    }
}

/// Accepts `requirements.txt`, `requirements-dev.txt` and `requirements/test.txt`, but not those for other purposes.
fn is_wanted(path: &str, place: &str) -> bool {
    let Some(name) = file_name(path).strip_suffix(".txt") else { return false };
    let in_folder = directory(path) == join(place, "requirements");
    let is_list = in_folder || (directory(path) == place && name.contains("requirements"));
    let kind = name.replace("requirements", "");
    let kind = kind.trim_matches(['-', '_', '.']);
    is_list && (kind.is_empty() || FOR_TESTS.contains(&kind) || (in_folder && kind == "base"))
}

fn included(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    matches!(words.next()?, "-r" | "--requirement" | "-c" | "--constraint").then(|| words.next()).flatten()
}

fn is_local(line: &str) -> bool {
    ["-e", "--editable", ".", "file:"].iter().any(|start| line.starts_with(start))
}

/// The name in `Requests[socks] >= 2 ; python_version > "3"`.
pub(super) fn name(line: &str) -> Option<String> {
    let end = line.find(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c))).unwrap_or(line.len());
    line.starts_with(|c: char| c.is_ascii_alphanumeric()).then(|| normal(&line[..end]))
}

/// Normalizes a name as the package index does.
pub(super) fn normal(name: &str) -> String {
    name.to_lowercase().replace(['_', '.'], "-")
}
