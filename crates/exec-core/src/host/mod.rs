//! What of this machine stands in the way of a sandbox, and what a person can do about it.
//!
//! Looked up in the kernel's files below a root that tests choose. Knows no executor: one that can't make a wall or hold a
//! limit asks here for the reason and the remedy, so that both are the same wherever they are shown.

mod control_groups;
mod namespaces;

pub use control_groups::ControlGroups;
pub use namespaces::NamespaceBan;

/// Files that engines put into their containers.
const CONTAINER_SIGNS: [&str; 2] = [".dockerenv", "run/.containerenv"];

/// The file below `root` that says that we are inside a container.
pub fn container_sign(root: &std::path::Path) -> Option<&'static str> {
    CONTAINER_SIGNS.into_iter().find(|sign| root.join(sign).exists())
}

/// Whether this process is root's.
#[cfg(unix)]
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// There is no root here.
#[cfg(not(unix))]
pub fn is_root() -> bool {
    false
}

/// A machine's files.
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
