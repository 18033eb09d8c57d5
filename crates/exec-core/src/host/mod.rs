//! What prevents a sandbox on this machine, and how to fix it.
//!
//! Reads the kernel's files below a root that tests choose. Knows no executor: an executor that can't isolate or enforce
//! a limit gets the reason and the remedy here, so that both are the same wherever they are shown.

mod control_groups;
mod namespaces;

pub use control_groups::ControlGroups;
pub use namespaces::NamespaceBan;

/// Files that engines put into their containers.
const CONTAINER_SIGNS: [&str; 2] = [".dockerenv", "run/.containerenv"];

/// The file below `root` that shows that this is a container.
pub fn container_sign(root: &std::path::Path) -> Option<&'static str> {
    CONTAINER_SIGNS.into_iter().find(|sign| root.join(sign).exists())
}

/// Whether this process runs as root.
#[cfg(unix)]
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// This system has no root user.
#[cfg(not(unix))]
pub fn is_root() -> bool {
    false
}

/// A temporary directory with these files.
#[cfg(test)]
fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    dir
}
