//! One number for everything that goes into a build: the same for the same files, another when one of them changes.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::instructions::Sources;

/// More than any project that is built on every change.
const MOST_FILES: usize = 200_000;
/// Reading more than this before a run is no use to anybody.
const MOST_BYTES: u64 = 4 << 30;

/// Reads and counts.
pub(super) struct Inputs {
    hash: Sha256,
    files: usize,
    bytes: u64,
}

impl Inputs {
    pub(super) fn new() -> Self {
        Self { hash: Sha256::new(), files: 0, bytes: 0 }
    }

    /// Something that has a name and content.
    pub(super) fn add(&mut self, name: &str, content: &[u8]) {
        self.label(name, content.len() as u64);
        self.hash.update(content);
    }

    /// What a build reads of a project. Names in `ignored` are left out at any depth, paths in it at their place.
    pub(super) fn add_sources(
        &mut self,
        root: &Path,
        sources: &Sources,
        ignored: &Ignored,
    ) -> io::Result<()> {
        match sources {
            Sources::All => self.add_directory(root, "", ignored),
            Sources::Some(paths) => paths.iter().try_for_each(|path| self.add_path(root, path, ignored)),
        }
    }

    /// Half of the hash: a name of an image that people can still read.
    pub(super) fn finish(self) -> String {
        hex(&self.hash.finalize()[..16])
    }

    /// Lengths keep what is beside each other apart.
    fn label(&mut self, name: &str, length: u64) {
        self.hash.update((name.len() as u64).to_le_bytes());
        self.hash.update(name);
        self.hash.update(length.to_le_bytes());
    }

    fn add_path(&mut self, root: &Path, path: &str, ignored: &Ignored) -> io::Result<()> {
        let full = root.join(path);
        let Ok(kind) = fs::symlink_metadata(&full) else {
            self.add(path, b"missing");
            return Ok(());
        };
        self.files += 1;
        self.bytes += kind.len();
        if self.files > MOST_FILES || self.bytes > MOST_BYTES {
            return Err(io::Error::other("there is too much to look at before every run"));
        }
        if kind.is_dir() {
            return self.add_directory(root, path, ignored);
        }
        if kind.is_symlink() {
            // A link is copied as one.
            self.add(path, fs::read_link(&full)?.as_os_str().as_encoded_bytes());
        } else if kind.is_file() {
            self.add_file(path, &full, kind.len(), is_program(&kind))?;
        }
        Ok(())
    }

    fn add_directory(&mut self, root: &Path, path: &str, ignored: &Ignored) -> io::Result<()> {
        let entries = fs::read_dir(root.join(path))?;
        let names: BTreeSet<_> =
            entries.map(|entry| entry.map(|entry| entry.file_name())).collect::<io::Result<_>>()?;
        self.label(path, names.len() as u64);
        for name in names {
            let Some(name) = name.to_str() else { continue };
            let below = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
            if !ignored.leaves_out(&below, name) {
                self.add_path(root, &below, ignored)?;
            }
        }
        Ok(())
    }

    fn add_file(&mut self, path: &str, full: &Path, length: u64, is_program: bool) -> io::Result<()> {
        self.label(path, length);
        self.hash.update([u8::from(is_program)]);
        let mut file = File::open(full)?.take(length);
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(()),
                count => self.hash.update(buffer.get(..count).unwrap_or_default()),
            }
        }
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string can't fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(unix)]
fn is_program(kind: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    kind.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_program(_: &fs::Metadata) -> bool {
    false
}

/// What a build certainly does not read. Knowing less of it than the engine only means to build too often.
#[derive(Debug, Default)]
pub(super) struct Ignored {
    names: Vec<String>,
    paths: Vec<String>,
}

impl Ignored {
    /// The simple lines of a `.dockerignore`; none where something is brought back.
    pub(super) fn of(text: &str) -> Self {
        let mut ignored = Self { names: vec![".git".to_owned()], paths: Vec::new() };
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let lines: Vec<&str> = lines.collect();
        if lines.iter().any(|line| line.starts_with('!')) {
            return ignored;
        }
        for line in lines {
            let (at_any_depth, path) = line.strip_prefix("**/").map_or((false, line), |rest| (true, rest));
            let path = path.trim_matches('/');
            if path.is_empty()
                || path.contains(['*', '?', '[', '\\'])
                || path.split('/').any(|part| part == "..")
            {
                continue;
            }
            if !at_any_depth {
                ignored.paths.push(path.to_owned());
            } else if !path.contains('/') {
                ignored.names.push(path.to_owned());
            }
        }
        ignored
    }

    fn leaves_out(&self, path: &str, name: &str) -> bool {
        self.names.iter().any(|ignored| ignored == name) || self.paths.iter().any(|ignored| ignored == path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(root: &Path, sources: &Sources, ignored: &str) -> String {
        let mut inputs = Inputs::new();
        inputs.add_sources(root, sources, &Ignored::of(ignored)).unwrap();
        inputs.finish()
    }

    /// R76
    #[test]
    fn what_is_copied_counts_and_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| fs::write(root.path().join(path), text).unwrap();
        put("go.mod", "module x");
        put("main.go", "package main");
        let some = Sources::Some(vec!["go.mod".to_owned(), "go.sum".to_owned()]);
        let before = number(root.path(), &some, "");
        assert_eq!(number(root.path(), &some, ""), before);
        put("main.go", "package other");
        assert_eq!(number(root.path(), &some, ""), before, "not copied");
        put("go.sum", "");
        let with_sum = number(root.path(), &some, "");
        assert_ne!(with_sum, before, "it was missing");
        put("go.mod", "module y");
        assert_ne!(number(root.path(), &some, ""), with_sum);
    }

    #[test]
    fn everything_is_all_but_what_is_ignored() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("deep/target")).unwrap();
        let put = |path: &str, text: &str| fs::write(root.path().join(path), text).unwrap();
        put("deep/target/x", "1");
        let all = |ignored| number(root.path(), &Sources::All, ignored);
        let (plain, without, brought_back) =
            (all(""), all("**/target\n"), all("**/target\n!deep/target/x\n"));
        put("deep/target/x", "2");
        assert_ne!(all(""), plain);
        assert_eq!(all("**/target\n"), without);
        assert_ne!(all("**/target\n!deep/target/x\n"), brought_back);
    }
}
