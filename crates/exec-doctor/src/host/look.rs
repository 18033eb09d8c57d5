//! Reads the kernel's own view, below a root that tests choose.

use std::fs;
use std::path::Path;

use exec_core::{ControlGroups, NamespaceBan, container_sign};

use super::Host;

pub(super) fn below(root: &Path) -> Host {
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
    Host {
        root: exec_core::is_root(),
        namespace_ban: NamespaceBan::below(root),
        cgroups: ControlGroups::look(),
        container: container_sign(root).map(|sign| format!("/{sign}")),
        selinux: read("sys/fs/selinux/enforce").trim() == "1",
        wsl: wsl(&read("proc/sys/kernel/osrelease")),
    }
}

/// WSL kernels carry Microsoft's name; those of WSL 1 lack the version.
fn wsl(release: &str) -> Option<u8> {
    let release = release.to_lowercase();
    release.contains("microsoft").then(|| if release.contains("wsl2") { 2 } else { 1 })
}
