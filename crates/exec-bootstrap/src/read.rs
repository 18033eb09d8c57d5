//! Reads a project. No other module reads its files. Everything is bounded, and no path leads outside the project.

use std::io;

use exec_core::Result;
use exec_files::{Dir, FileKind};

use crate::project::Project;
use crate::tree::{Content, Tree, join};
use crate::wanted::{self, Interest};

/// Directories deeper than this are skipped: manifests are near the top.
const DEEPEST: usize = 8;
/// More directories than any project that is developed by hand; the rest is skipped.
const MOST_DIRECTORIES: usize = 20_000;
/// More entries than a directory with manifests has.
const MOST_ENTRIES: usize = 100_000;
/// A longer file is recorded but not read.
const LONGEST: u64 = 4 << 20;
/// More text than all manifests and lock files together; further files are recorded but not read.
const MOST_TEXT: u64 = 128 << 20;

impl Project {
    /// Reads the relevant files of the project.
    ///
    /// # Errors
    ///
    /// Fails if its directory can't be read. A single unreadable file is recorded in the tree with the reason.
    pub fn read(&self) -> Result<Tree> {
        let mut tree = Tree::default();
        let (mut seen, mut room) = (0, MOST_TEXT);
        let mut waiting = vec![(String::new(), 0)];
        while let Some((path, depth)) = waiting.pop() {
            seen += 1;
            let entries = match entries(&self.dir, &path) {
                Ok(entries) => entries,
                Err(error) if path.is_empty() => return Err(self.unreadable(error)),
                // A directory that can't be listed can't be built from either.
                Err(_) => continue,
            };
            tree.add_directory(&path);
            for entry in entries {
                let Some(name) = entry.name.to_str() else { continue };
                let file = join(&path, name);
                if entry.kind == FileKind::Directory {
                    if depth < DEEPEST && seen + waiting.len() < MOST_DIRECTORIES && wanted::is_open(name) {
                        waiting.push((file, depth + 1));
                    }
                    continue;
                }
                let content = match wanted::interest(&file) {
                    Interest::None => continue,
                    Interest::Seen => Content::Unread,
                    Interest::Read => content(&self.dir, &file, LONGEST.min(room)),
                };
                if let Content::Text(text) = &content {
                    room = room.saturating_sub(text.len() as u64);
                }
                tree.add(file, content);
            }
        }
        Ok(tree)
    }
}

fn entries(root: &Dir, path: &str) -> io::Result<Vec<exec_files::Entry>> {
    if path.is_empty() { root.entries(MOST_ENTRIES) } else { root.dir(path)?.entries(MOST_ENTRIES) }
}

fn content(root: &Dir, path: &str, most: u64) -> Content {
    // Projects with several parts do link their manifests, so links within the project are followed.
    let bytes = root.behind_links(path).and_then(|path| root.read(path, most));
    match bytes.map(String::from_utf8) {
        Ok(Ok(text)) => Content::Text(text),
        Ok(Err(_)) => Content::Unreadable("it is not UTF-8 text".to_owned()),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Content::Unread,
        Err(error) => Content::Unreadable(error.to_string()),
    }
}
