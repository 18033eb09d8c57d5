//! What the host wrote down of containers that are gone.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use exec_wire::reaper::{Directory, Name};

/// Takes the records of these containers away: whoever comes next has nothing to look for.
pub(super) fn strike(prefixes: &[Directory], containers: &[Name]) {
    for container in containers {
        for prefix in prefixes {
            let record = [prefix.as_bytes(), container.as_str().as_bytes()].concat();
            // One that is gone already is as good.
            let _ = std::fs::remove_file(Path::new(std::ffi::OsStr::from_bytes(&record)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_these_go_and_no_others() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str| dir.path().join(name);
        for name in ["c-a", "c-b", ".a", "a"] {
            std::fs::write(file(name), "").unwrap();
        }
        let prefix = |text: &str| Directory::new(file(text).into_os_string().into_encoded_bytes()).unwrap();
        strike(&[prefix("c-"), prefix(".")], &[Name::new("a").unwrap(), Name::new("none").unwrap()]);
        let left = |name: &str| file(name).exists();
        assert!(!left("c-a") && !left(".a") && left("c-b") && left("a"));
    }
}
