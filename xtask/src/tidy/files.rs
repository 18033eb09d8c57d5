//! The files that the rules check.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

/// Directories without files of ours.
const NOT_OURS: &[&str] = &[".git", "target"];

/// Endings of names whose content is generated.
const GENERATED: &[&str] = &["Cargo.lock", ".snap"];

/// A text file of the project.
#[derive(Debug)]
pub(super) struct SourceFile {
    /// Relative to the root of the checkout, with forward slashes.
    pub(super) path: String,
    pub(super) text: String,
}

impl SourceFile {
    pub(super) fn is_rust(&self) -> bool {
        Path::new(&self.path).extension().is_some_and(|extension| extension == "rs")
    }

    /// Whether the whole file is test code.
    pub(super) fn is_test(&self) -> bool {
        self.path.split('/').any(|part| part == "tests" || part == "tests.rs")
    }

    /// The text before the first inline test module; empty for test code.
    pub(super) fn production(&self) -> &str {
        if self.is_test() {
            return "";
        }
        let is_module = |line: &str| {
            let line = line.strip_prefix("pub(crate) ").unwrap_or(line);
            line.starts_with("mod ") && line.ends_with('{')
        };
        let starts = self.text.match_indices("\n#[cfg(").map(|(at, _)| at + 1);
        let mut tests = starts.filter(|at| {
            let mut lines = self.text[*at..].lines();
            let is_for_tests =
                lines.next().is_some_and(|line| line.contains("(test)") || line.contains("(test,"));
            is_for_tests && lines.next().is_some_and(is_module)
        });
        tests.next().map_or(&self.text, |at| &self.text[..at])
    }
}

/// Reads every text file that git knows or would add; without git, everything below `root`.
pub(super) fn load(root: &Path) -> Result<Vec<SourceFile>> {
    let paths = match from_git(root) {
        Some(paths) => paths,
        None => from_walk(root, root)?,
    };
    Ok(read(root, paths))
}

fn read(root: &Path, paths: Vec<String>) -> Vec<SourceFile> {
    let wanted = paths.into_iter().filter(|path| !GENERATED.iter().any(|end| path.ends_with(end)));
    let mut files = Vec::new();
    for path in wanted {
        // Git also lists deleted files; a file that is not UTF-8 is not text.
        let Ok(bytes) = fs::read(root.join(&path)) else { continue };
        if let Ok(text) = String::from_utf8(bytes) {
            files.push(SourceFile { path, text });
        }
    }
    files
}

fn from_git(root: &Path) -> Option<Vec<String>> {
    let mut git = Command::new("git");
    git.args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"]).current_dir(root);
    let out = git.output().ok().filter(|out| out.status.success())?;
    let list = String::from_utf8(out.stdout).ok()?;
    Some(list.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
}

fn from_walk(root: &Path, dir: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).with_context(|| format!("cannot list {}", dir.display()))? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            if !NOT_OURS.iter().any(|name| entry.file_name() == *name) {
                found.extend(from_walk(root, &path)?);
            }
        } else if let Ok(below) = path.strip_prefix(root) {
            found.push(below.to_string_lossy().replace('\\', "/"));
        }
    }
    Ok(found)
}

#[cfg(test)]
pub(super) mod sample {
    //! Files for the tests of the rules.

    use super::SourceFile;

    pub(in crate::tidy) fn file(path: &str, text: impl Into<String>) -> SourceFile {
        SourceFile { path: path.to_owned(), text: text.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_module_at_the_end_is_not_production() {
        let file = sample::file("crates/a/src/lib.rs", "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    b\n}\n");
        assert_eq!(file.production(), "fn a() {}\n\n");
        let file = sample::file("crates/a/src/lib.rs", "#![x]\n#[cfg(test)]\nmod tests;\nfn a() {}\n");
        assert_eq!(file.production(), file.text);
    }

    #[test]
    fn test_files_have_no_production_part() {
        for path in ["crates/a/tests/stop.rs", "crates/a/src/tests.rs", "crates/a/src/stop/tests.rs"] {
            assert_eq!(sample::file(path, "fn a() {}").production(), "", "{path}");
        }
    }

    #[test]
    fn without_git_the_tree_is_walked() {
        let dir = tempfile::tempdir().unwrap();
        for path in ["src/lib.rs", "target/debug/x.rs", ".ci/run", "Cargo.lock"] {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "text").unwrap();
        }
        fs::write(dir.path().join("binary"), [0xff, 0xfe]).unwrap();
        let walked = from_walk(dir.path(), dir.path()).unwrap();
        let mut paths: Vec<_> = read(dir.path(), walked).into_iter().map(|file| file.path).collect();
        paths.sort();
        assert_eq!(paths, [".ci/run", "src/lib.rs"]);
    }
}
