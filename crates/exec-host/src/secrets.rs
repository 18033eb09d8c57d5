//! Files that an ordinary user can't read in the system's configuration, and among programs that did not come
//! with the system.
//!
//! A command that runs as user 0 without capabilities still owns those files, so they are listed for hiding.
//! If the search of configuration ends early, the directories not searched are listed as a whole: hiding too
//! much breaks a tool, which shows; hiding too little does not. Programs can have a hundred thousand files,
//! and would not run without them: there the search stops before it takes noticeable time, nearest to the top
//! first.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

#[cfg(unix)]
use exec_files::FileKind;
use exec_files::{Dir, Entry};

/// Where systems keep their configuration.
const CONFIGURATION: [&str; 2] = ["/etc", "/usr/local/etc"];

/// Where programs are installed by hand, often with their configuration next to them.
const PROGRAMS: [&str; 2] = ["/opt", "/usr/local"];

/// Secret as a whole, regardless of the modes of the files inside.
const ALWAYS: [&str; 5] = [
    "/etc/NetworkManager/system-connections",
    "/etc/letsencrypt",
    "/etc/pki/tls/private",
    "/etc/ssh",
    "/etc/ssl/private",
];

/// How far a search goes.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    /// Entries examined, over all directories. Systems have one to four thousand.
    entries: usize,
    /// Levels below the first.
    depth: usize,
    /// The most secrets listed in one directory; with more, the directory itself is listed.
    named: usize,
    /// How to treat directories that were not searched.
    rest: Rest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rest {
    Hidden,
    Shown,
}

const BOUNDS: Bounds = Bounds { entries: 16_384, depth: 12, named: 8, rest: Rest::Hidden };

/// Chosen so that the search takes no noticeable time.
const PROGRAM_BOUNDS: Bounds = Bounds { entries: 4096, rest: Rest::Shown, ..BOUNDS };

/// The files and directories to hide, none within another.
pub(crate) fn find() -> Vec<PathBuf> {
    let known = ALWAYS.iter().filter_map(|path| fs::canonicalize(path).ok());
    // The target of a link is mounted at its own path, too.
    let real = |root: &&str| fs::canonicalize(root).ok();
    let searched = CONFIGURATION.iter().filter_map(real).flat_map(|root| search(&root, BOUNDS));
    let programs = PROGRAMS.iter().filter_map(real).flat_map(|root| search_each(&root));
    outermost(known.chain(searched).chain(programs).collect())
}

/// The same, with separate bounds for each entry of `root`: a workspace in it that a command has filled does
/// not use up the bounds of others.
fn search_each(root: &Path) -> Vec<PathBuf> {
    let Ok((directory, entries)) = list(root, usize::MAX) else { return Vec::new() };
    let found = entries.iter().flat_map(|entry| match kind(&directory, entry) {
        Kind::Secret => vec![root.join(&entry.name)],
        Kind::Directory => search_from(root.join(&entry.name), 1, root, PROGRAM_BOUNDS),
        Kind::Open => Vec::new(),
    });
    found.collect()
}

/// The unreadable entries below `root`. Breadth first: entries near the root are examined before the bound is
/// reached.
fn search(root: &Path, bounds: Bounds) -> Vec<PathBuf> {
    search_from(root.to_owned(), 0, root, bounds)
}

/// The unreadable entries below `start`, which lies `depth` levels deep in `root`.
fn search_from(start: PathBuf, depth: usize, root: &Path, bounds: Bounds) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = bounds.entries;
    let is_hidden = bounds.rest == Rest::Hidden;
    let mut waiting = VecDeque::from([(start, depth)]);
    while let Some((path, depth)) = waiting.pop_front() {
        let is_root = depth == 0;
        if !is_root && (left == 0 || depth > bounds.depth) {
            found.extend(is_hidden.then_some(path));
            continue;
        }
        let most = if is_root { usize::MAX } else { left };
        let Ok((directory, mut entries)) = list(&path, most.saturating_add(1)) else {
            found.extend((!is_root).then_some(path));
            continue;
        };
        let seen = entries.len();
        entries.truncate(most);
        let (mut secrets, mut below) = (Vec::new(), Vec::new());
        for entry in &entries {
            match kind(&directory, entry) {
                Kind::Secret => secrets.push(path.join(&entry.name)),
                Kind::Directory => below.push((path.join(&entry.name), depth + 1)),
                Kind::Open => {}
            }
        }
        if !is_root && ((is_hidden && seen > left) || secrets.len() > bounds.named) {
            found.push(path);
        } else {
            found.extend(secrets.into_iter().map(|secret| tellable(secret, root)));
            waiting.extend(below);
        }
        left = left.saturating_sub(seen);
    }
    found
}

/// Follows no link, because a workspace may lie in `/opt`.
fn list(path: &Path, most: usize) -> io::Result<(Dir, Vec<Entry>)> {
    let directory = Dir::open(path)?;
    let entries = directory.entries(most)?;
    Ok((directory, entries))
}

enum Kind {
    /// An ordinary user can't read it.
    Secret,
    /// To be searched.
    Directory,
    /// Every user may read it, or it is a link: a link's target is judged where it lies.
    Open,
}

#[cfg(unix)]
fn kind(directory: &Dir, entry: &Entry) -> Kind {
    use std::os::unix::fs::PermissionsExt;
    const READ: u32 = 0o004;
    const READ_AND_ENTER: u32 = 0o005;
    if entry.kind == FileKind::Link {
        return Kind::Open;
    }
    // It may be gone by now, or invisible to us.
    let Ok(found) = directory.metadata(&entry.name) else { return Kind::Open };
    let mode = found.permissions().mode();
    match FileKind::of(&found) {
        FileKind::Link => Kind::Open,
        FileKind::Directory if mode & READ_AND_ENTER == READ_AND_ENTER => Kind::Directory,
        FileKind::Directory => Kind::Secret,
        _ if mode & READ != 0 => Kind::Open,
        _ => Kind::Secret,
    }
}

#[cfg(not(unix))]
fn kind(_: &Dir, _: &Entry) -> Kind {
    Kind::Open
}

/// A path that any engine accepts. Some take a list of paths with separators in it, so an entry whose name
/// would be split is represented by its directory.
fn tellable(secret: PathBuf, root: &Path) -> PathBuf {
    let is_plain = |path: &Path| {
        path.to_str().is_some_and(|text| !text.contains([',', ':', '"']) && !text.contains(char::is_control))
    };
    let below_root = |path: &&Path| *path != root && path.starts_with(root);
    let plain = secret.ancestors().take_while(below_root).find(|path| is_plain(path)).map(Path::to_owned);
    plain.unwrap_or(secret)
}

/// Sorts, and drops paths that lie within another.
pub(crate) fn outermost(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.sort();
    paths.dedup_by(|later, earlier| later.starts_with(earlier));
    paths
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs::{Permissions, create_dir_all, set_permissions, write};
    use std::os::unix::fs::PermissionsExt;

    use tempfile::TempDir;

    use super::*;

    fn tree(files: &[(&str, u32)]) -> TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, mode) in files {
            let path = dir.path().join(name);
            create_dir_all(path.parent().unwrap()).unwrap();
            write(&path, "x").unwrap();
            set_permissions(path, Permissions::from_mode(*mode)).unwrap();
        }
        dir
    }

    fn names(dir: &TempDir, bounds: Bounds) -> Vec<String> {
        let found = outermost(search(dir.path(), bounds));
        found.iter().map(|path| path.strip_prefix(dir.path()).unwrap().display().to_string()).collect()
    }

    #[test]
    fn password_hashes_are_secret_and_names_are_not() {
        let found = find();
        let shadow = Path::new("/etc/shadow");
        assert!(!shadow.exists() || found.iter().any(|secret| secret == shadow));
        assert!(!found.iter().any(|secret| Path::new("/etc/passwd").starts_with(secret)));
    }

    /// A49: at any depth, by the modes of files and of directories.
    #[test]
    fn secrets_are_found_at_any_depth() {
        let dir = tree(&[
            ("passwd", 0o644),
            ("shadow", 0o640),
            ("docker/key.json", 0o600),
            ("a/b/c/d/token", 0o400),
            ("a/b/readable", 0o644),
            ("closed/inner", 0o644),
            ("listed/inner", 0o644),
        ]);
        set_permissions(dir.path().join("closed"), Permissions::from_mode(0o700)).unwrap();
        set_permissions(dir.path().join("listed"), Permissions::from_mode(0o754)).unwrap();
        assert_eq!(names(&dir, BOUNDS), ["a/b/c/d/token", "closed", "docker/key.json", "listed", "shadow"]);
    }

    /// A49: a full directory does not make its neighbours visible.
    #[test]
    fn each_program_has_its_own_bounds() {
        let dir = tree(&[("full/1", 0o644), ("other/key", 0o600), ("key", 0o600)]);
        for number in 0..PROGRAM_BOUNDS.entries + 10 {
            write(dir.path().join("full").join(number.to_string()), "").unwrap();
        }
        let found = outermost(search_each(dir.path()));
        assert_eq!(found, [dir.path().join("key"), dir.path().join("other/key")]);
    }

    /// A49: directories that were not searched are hidden.
    #[test]
    fn a_bound_that_is_met_hides_the_rest() {
        let wide = tree(&[("a/1", 0o644), ("b/1", 0o644), ("c/1", 0o644)]);
        assert_eq!(names(&wide, Bounds { entries: 3, ..BOUNDS }), ["a", "b", "c"]);
        assert_eq!(names(&wide, Bounds { entries: 6, ..BOUNDS }), Vec::<String>::new());
        let large = tree(&[("a/1", 0o644), ("a/2", 0o644), ("a/3", 0o644)]);
        assert_eq!(names(&large, Bounds { entries: 3, ..BOUNDS }), ["a"]);
        let deep = tree(&[("a/b/c/secret", 0o600), ("a/readable", 0o644)]);
        assert_eq!(names(&deep, Bounds { depth: 1, ..BOUNDS }), ["a/b"]);
        let many = tree(&[("a/1", 0o600), ("a/2", 0o600), ("a/3", 0o600), ("1", 0o600), ("2", 0o600)]);
        assert_eq!(names(&many, Bounds { named: 1, ..BOUNDS }), ["1", "2", "a"]);
    }

    /// A49: a program with more files than the bound still runs, and files near its top are hidden all the
    /// same.
    #[test]
    fn programs_are_searched_as_far_as_the_bound() {
        let dir = tree(&[
            ("app/key", 0o600),
            ("app/bin/tool", 0o755),
            ("app/lib/1", 0o644),
            ("app/lib/2", 0o644),
            ("app/lib/deep/3", 0o644),
            ("closed/inner", 0o644),
        ]);
        set_permissions(dir.path().join("closed"), Permissions::from_mode(0o700)).unwrap();
        for entries in [5, 6, 8, 100] {
            assert_eq!(names(&dir, Bounds { entries, ..PROGRAM_BOUNDS }), ["app/key", "closed"], "{entries}");
        }
    }

    #[test]
    fn names_that_engines_read_as_a_list_hide_their_directory() {
        let dir = tree(&[("vpn/work, home", 0o600), ("vpn/other", 0o600), ("top,level", 0o600)]);
        assert_eq!(names(&dir, BOUNDS), ["top,level", "vpn"]);
    }

    #[test]
    fn links_are_not_followed() {
        let secret = tree(&[("key", 0o600)]);
        let dir = tree(&[("readable", 0o644)]);
        std::os::unix::fs::symlink(secret.path(), dir.path().join("link")).unwrap();
        assert_eq!(names(&dir, BOUNDS), Vec::<String>::new());
    }
}
