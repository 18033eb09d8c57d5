//! The system's secrets, cached for a few seconds.
//!
//! The search examines every file of the system's configuration, which takes a good part of a whole run, so
//! consecutive runs share it. A file that is closed to other users in the meantime stays visible until the
//! cached search expires, and longer in a warm cell.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use exec_control::Watch;

/// How long a search stays valid.
const FRESH: Duration = Duration::from_secs(10);

/// The name of the cache entry.
const NAME: &str = "secrets";

/// The files and directories that a command of root must not see.
pub(crate) fn find(watch: &Watch) -> Vec<PathBuf> {
    if let Some(paths) = watch.recall(NAME, FRESH).and_then(|kept| decode(&kept)) {
        return paths;
    }
    let paths = exec_host::system_secrets();
    watch.keep(NAME, &encode(&paths));
    paths
}

/// Writes each path followed by a NUL byte, which no path contains.
fn encode(paths: &[PathBuf]) -> Vec<u8> {
    paths.iter().flat_map(|path| [path.as_os_str().as_bytes(), b"\0"]).flatten().copied().collect()
}

/// Returns `None` for an incomplete entry.
fn decode(kept: &[u8]) -> Option<Vec<PathBuf>> {
    let paths = kept.strip_suffix(b"\0")?.split(|byte| *byte == 0).map(|path| OsStr::from_bytes(path).into());
    Some(paths.collect())
}

#[cfg(test)]
mod tests {
    use exec_control::{Audit, StateDir};

    use super::*;

    #[test]
    fn paths_come_back_as_they_were() {
        let paths = ["/etc/shadow", "/etc/a, b\n", "/opt/\u{e9}"].map(PathBuf::from);
        assert_eq!(decode(&encode(&paths)).unwrap(), paths);
        assert_eq!(decode(b"/etc/sha"), None, "cut off");
        assert_eq!(decode(b""), None);
    }

    /// A49: a search is cached, but only for a while.
    #[test]
    fn a_search_counts_for_a_moment() {
        let dir = tempfile::tempdir().unwrap();
        let watch = Watch::new(StateDir::at(dir.path().join("state")), Audit::Off);
        assert_eq!(watch.recall(NAME, FRESH), None);
        let found = find(&watch);
        assert_eq!(find(&watch), found);
        let kept = dir.path().join("state").join(NAME);
        std::fs::write(&kept, b"/etc/kept\0").unwrap();
        assert_eq!(find(&watch), [PathBuf::from("/etc/kept")], "the control: it is read from disk");
        let old = std::time::SystemTime::now() - 2 * FRESH;
        std::fs::File::options().write(true).open(&kept).unwrap().set_modified(old).unwrap();
        assert_eq!(find(&watch), found);
    }
}
