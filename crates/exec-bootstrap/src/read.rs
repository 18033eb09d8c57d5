//! Reads a project: the only place that looks at its files. Bounded in everything, and never leaves the project.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use exec_core::{Error, ErrorKind, Result};

use crate::tree::{Content, Tree, join};
use crate::wanted::{self, Interest};

/// Directories deeper than this are not looked into: manifests are near the top.
const DEEPEST: usize = 8;
/// More directories than a project has that somebody works on; what is beyond is not looked at.
const MOST_DIRECTORIES: usize = 20_000;
/// A file longer than this is taken note of and not read.
const LONGEST: u64 = 4 << 20;

/// Reads what matters of the project in this directory.
pub fn read(root: &Path) -> Result<Tree> {
    let root = root.canonicalize().map_err(|error| no_project(root, error))?;
    let mut tree = Tree::default();
    let mut waiting = vec![(root.clone(), String::new(), 0)];
    let mut seen = 0;
    while let Some((directory, path, depth)) = waiting.pop() {
        seen += 1;
        let entries = match fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) if path.is_empty() => return Err(no_project(&root, error)),
            // What can't be looked into can't be built from either.
            Err(_) => continue,
        };
        tree.add_directory(&path);
        for entry in entries.flatten() {
            let name = entry.file_name();
            let (Some(name), Ok(kind)) = (name.to_str(), entry.file_type()) else { continue };
            if kind.is_dir() {
                if depth < DEEPEST && seen + waiting.len() < MOST_DIRECTORIES && wanted::is_open(name) {
                    waiting.push((entry.path(), join(&path, name), depth + 1));
                }
                continue;
            }
            let file = join(&path, name);
            let content = match wanted::interest(&file) {
                Interest::None => continue,
                Interest::Seen => Content::Unread,
                Interest::Read => content(&root, &entry.path()),
            };
            tree.add(file, content);
        }
    }
    Ok(tree)
}

fn no_project(root: &Path, error: io::Error) -> Error {
    Error::new(ErrorKind::InvalidInput, "bootstrap", format!("can't look into {}", root.display()))
        .with_source(error)
        .with_remedy("name the directory of a project")
}

fn content(root: &Path, path: &Path) -> Content {
    inside(root, path)
        .and_then(|path| text(&path))
        .unwrap_or_else(|error| Content::Unreadable(error.to_string()))
}

/// The file a path leads to, if it is one of the project.
fn inside(root: &Path, path: &Path) -> io::Result<PathBuf> {
    let real = path.canonicalize()?;
    if real.starts_with(root) {
        Ok(real)
    } else {
        Err(io::Error::other("it is a link that leads out of the project"))
    }
}

fn text(path: &Path) -> io::Result<Content> {
    let kind = fs::metadata(path)?;
    if !kind.is_file() {
        // A pipe would hold us up for ever.
        return Err(io::Error::other("it is not a file"));
    }
    if kind.len() > LONGEST {
        return Ok(Content::Unread);
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(LONGEST).read_to_end(&mut bytes)?;
    String::from_utf8(bytes).map(Content::Text).map_err(|_| io::Error::other("it is no text (UTF-8)"))
}
