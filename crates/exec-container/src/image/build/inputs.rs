//! Hashes everything that goes into a build: equal files have equal hashes, and any change gives another.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use exec_files::{Dir, FileKind};
use sha2::{Digest, Sha256};

use super::instructions::{REPOSITORY, Sources};

/// More files than any project that is rebuilt on every change.
pub(super) const MOST_FILES: usize = 200_000;
/// Reading more than this before a run would take too long.
pub(super) const MOST_BYTES: u64 = 4 << 30;
/// Deeper than any project; a command can create much deeper trees.
pub(super) const DEEPEST: usize = 100;

/// Hashes files, and counts them and their bytes.
pub(super) struct Inputs {
    hash: Sha256,
    files: usize,
    bytes: u64,
}

impl Inputs {
    pub(super) fn new() -> Self {
        Self { hash: Sha256::new(), files: 0, bytes: 0 }
    }

    /// Adds content under a name.
    pub(super) fn add(&mut self, name: &str, content: &[u8]) {
        self.add_bytes(name.as_bytes(), content);
    }

    /// Adds the files that a build reads. Names in `ignored` are left out at any depth, paths only where they are.
    pub(super) fn add_sources(&mut self, root: &Dir, sources: &Sources, ignored: &Ignored) -> io::Result<()> {
        match sources {
            Sources::All => self.add_tree(root, Path::new(""), FileKind::Directory, ignored),
            Sources::Some(paths) => paths.iter().try_for_each(|path| self.add_named(root, path, ignored)),
        }
    }

    /// Half of the hash, so that an image's name stays readable.
    pub(super) fn finish(self) -> String {
        hex(&self.hash.finalize()[..16])
    }

    /// Lengths separate adjacent fields.
    fn label(&mut self, name: &[u8], length: u64) {
        self.hash.update((name.len() as u64).to_le_bytes());
        self.hash.update(name);
        self.hash.update(length.to_le_bytes());
    }

    /// Adds a path that the Dockerfile names. Builders follow links in it, within the project.
    fn add_named(&mut self, root: &Dir, path: &str, ignored: &Ignored) -> io::Result<()> {
        let found = root.behind_links(path).and_then(|real| Ok((FileKind::of(&root.metadata(&real)?), real)));
        match found {
            Ok((kind, real)) => {
                self.add(path, real.as_os_str().as_encoded_bytes());
                self.add_tree(root, &real, kind, ignored)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.add(path, b"missing");
                Ok(())
            }
            // The builder decides where the path leads, so any file may count.
            Err(_) => self.add_tree(root, Path::new(""), FileKind::Directory, ignored),
        }
    }

    /// Adds a path and everything below it. Not recursive: a command decides how deep the tree is.
    fn add_tree(&mut self, root: &Dir, top: &Path, kind: FileKind, ignored: &Ignored) -> io::Result<()> {
        let mut waiting = vec![(top.to_owned(), kind)];
        while let Some((path, kind)) = waiting.pop() {
            let name = path.as_os_str().as_encoded_bytes().to_owned();
            match kind {
                FileKind::Directory => {
                    waiting.extend(self.add_directory(root, &path, ignored)?.into_iter().rev());
                }
                // Builders copy a link as a link.
                FileKind::Link => self.add_bytes(&name, root.link_target(&path)?.as_encoded_bytes()),
                FileKind::File => self.add_file(&name, root.file(&path)?)?,
                FileKind::Special => {}
            }
        }
        Ok(())
    }

    fn add_directory(
        &mut self,
        root: &Dir,
        path: &Path,
        ignored: &Ignored,
    ) -> io::Result<Vec<(PathBuf, FileKind)>> {
        if path.iter().count() > DEEPEST {
            return Err(too_deep(path));
        }
        let opened = if path.as_os_str().is_empty() { None } else { Some(root.dir(path)?) };
        let mut entries = opened.as_ref().unwrap_or(root).entries(MOST_FILES)?;
        // Neither read nor waited for: builders copy no pipes or sockets.
        entries.retain(|entry| entry.kind != FileKind::Special);
        self.label(path.as_os_str().as_encoded_bytes(), entries.len() as u64);
        self.files += entries.len();
        if self.files >= MOST_FILES {
            return Err(too_much());
        }
        let inside = entries.into_iter().map(|entry| (path.join(&entry.name), entry.name, entry.kind));
        let counts =
            |path: &Path, name: &OsStr| !ignored.leaves_out(&path.to_string_lossy(), &name.to_string_lossy());
        Ok(inside.filter(|(path, name, _)| counts(path, name)).map(|(path, _, kind)| (path, kind)).collect())
    }

    fn add_bytes(&mut self, name: &[u8], content: &[u8]) {
        self.label(name, content.len() as u64);
        self.hash.update(content);
    }

    fn add_file(&mut self, name: &[u8], file: File) -> io::Result<()> {
        let found = file.metadata()?;
        let length = found.len();
        self.bytes += length;
        if self.bytes > MOST_BYTES {
            return Err(too_much());
        }
        self.label(name, length);
        self.hash.update(mode(&found).to_le_bytes());
        let mut file = file.take(length);
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(()),
                count => self.hash.update(buffer.get(..count).unwrap_or_default()),
            }
        }
    }
}

pub(super) fn too_deep(path: &Path) -> io::Error {
    let start: PathBuf = path.iter().take(3).collect();
    let message = format!("there are more than {DEEPEST} directories in each other in {}", start.display());
    io::Error::other(message)
}

pub(super) fn too_much() -> io::Error {
    io::Error::other("there is too much to look at before every run")
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string can't fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The mode bits that are copied. Only those of files count.
#[cfg(unix)]
pub(super) fn mode(found: &Metadata) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    found.permissions().mode() & 0o777
}

#[cfg(not(unix))]
pub(super) fn mode(_: &Metadata) -> u32 {
    0o755
}

/// Files that a build certainly does not read. Ignoring less than the engine only causes extra builds.
#[derive(Debug, Clone, Default)]
pub(super) struct Ignored {
    names: Vec<String>,
    paths: Vec<String>,
}

impl Ignored {
    /// Ignores repositories too: they change with every commit and differ between worktrees.
    pub(super) fn and_repositories(mut self) -> Self {
        self.names.push(REPOSITORY.to_owned());
        self
    }

    /// The simple lines of a `.dockerignore`; none if it has exceptions (`!`).
    pub(super) fn of(text: &str) -> Self {
        let mut ignored = Self::default();
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

    pub(super) fn leaves_out(&self, path: &str, name: &str) -> bool {
        self.names.iter().any(|ignored| ignored == name) || self.paths.iter().any(|ignored| ignored == path)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn try_number(root: &Path, sources: &Sources, ignored: &str) -> io::Result<String> {
        let mut inputs = Inputs::new();
        let root = Dir::open(&root.canonicalize().unwrap())?;
        inputs.add_sources(&root, sources, &Ignored::of(ignored).and_repositories()).map(|()| inputs.finish())
    }

    fn number(root: &Path, sources: &Sources, ignored: &str) -> String {
        try_number(root, sources, ignored).unwrap()
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

    /// A43: a command decides how deep a tree is.
    #[test]
    fn deep_directories_are_refused_by_name() {
        let root = tempfile::tempdir().unwrap();
        let mut here = Dir::open(&root.path().canonicalize().unwrap()).unwrap();
        for _ in 0..3000 {
            here.make_dir("deep", 0o755).unwrap();
            here = here.dir("deep").unwrap();
        }
        let error = try_number(root.path(), &Sources::All, "").unwrap_err();
        assert_eq!(error.to_string(), "there are more than 100 directories in each other in deep/deep/deep");
        assert!(try_number(root.path(), &Sources::All, "deep\n").is_ok());
        remove_deep(here, &root.path().join("deep"));
    }

    /// `rm`, because even the standard library does not recurse so deep.
    fn remove_deep(_: Dir, top: &Path) {
        assert!(std::process::Command::new("rm").arg("-rf").arg(top).status().unwrap().success());
    }

    /// A43: pipes, sockets and devices are neither read nor waited for, and links count as links.
    #[cfg(unix)]
    #[test]
    fn nothing_but_files_is_read() {
        use std::os::unix::fs::symlink;
        let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let at = |name: &str| root.path().join(name);
        fs::write(outside.path().join("x"), "1").unwrap();
        fs::write(at("real"), "1").unwrap();
        symlink("real", at("inner")).unwrap();
        symlink(outside.path().join("x"), at("link")).unwrap();
        symlink(outside.path(), at("way")).unwrap();
        symlink("/dev/zero", at("zero")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            at("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RWXU,
            0,
        )
        .unwrap();
        drop(std::os::unix::net::UnixListener::bind(at("socket")).unwrap());
        let named = |name: &str| number(root.path(), &Sources::Some(vec![name.to_owned()]), "");
        let planted = ["link", "way/x", "zero", "pipe", "socket"];
        let all = || [vec![number(root.path(), &Sources::All, "")], planted.map(named).to_vec()].concat();
        let (before, inner) = (all(), named("inner"));
        fs::write(outside.path().join("x"), "2").unwrap();
        assert_eq!(all(), before, "files outside do not count");
        fs::write(at("real"), "2").unwrap();
        assert_ne!(named("inner"), inner, "a link within the project counts as its file");
    }
}
