//! Reads what the kernel says of itself, below a root that tests choose.

use std::fs;
use std::path::Path;

use super::{Cgroups, Host, NamespaceBan};

/// Kernel settings that forbid namespaces: file, forbidding value.
const BANS: [(&str, &str, NamespaceBan); 3] = [
    ("proc/sys/user/max_user_namespaces", "0", NamespaceBan::NoneAllowed),
    ("proc/sys/kernel/unprivileged_userns_clone", "0", NamespaceBan::NotForOrdinaryUsers),
    ("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", NamespaceBan::AppArmor),
];

/// Files that engines put into their containers.
const SIGNS: [&str; 2] = [".dockerenv", "run/.containerenv"];

pub(super) fn below(root: &Path) -> Host {
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
    let ban = BANS.iter().find(|(file, forbidding, _)| read(file).trim() == *forbidding);
    Host {
        root: is_root(),
        namespace_ban: ban.map(|(_, _, ban)| *ban),
        cgroups: cgroups(root, &read("proc/self/cgroup")),
        container: SIGNS.iter().find(|sign| root.join(sign).exists()).map(|sign| format!("/{sign}")),
        selinux: read("sys/fs/selinux/enforce").trim() == "1",
        wsl: wsl(&read("proc/sys/kernel/osrelease")),
    }
}

/// Windows names its kernels; those of WSL 1 are not built for it.
fn wsl(release: &str) -> Option<u8> {
    let release = release.to_lowercase();
    release.contains("microsoft").then(|| if release.contains("wsl2") { 2 } else { 1 })
}

/// Ours are those in whose directory we can make another: of the one hierarchy, or of that which counts memory.
fn cgroups(root: &Path, own: &str) -> Cgroups {
    let mounted = root.join("sys/fs/cgroup");
    let (at, path) = if mounted.join("cgroup.controllers").exists() {
        (mounted, own.lines().find_map(|line| line.strip_prefix("0::")))
    } else if mounted.join("memory").exists() {
        let memory = own.lines().filter_map(|line| line.split_once(':')?.1.split_once(':'));
        let memory =
            memory.into_iter().find(|(controllers, _)| controllers.split(',').any(|one| one == "memory"));
        (mounted.join("memory"), memory.map(|(_, path)| path))
    } else {
        return Cgroups::None;
    };
    let own = at.join(path.unwrap_or("/").trim_start_matches('/'));
    // In a container the path is the host's, and the mount shows its end only.
    let own = if own.exists() { own } else { at };
    if is_writable(&own) { Cgroups::Ours } else { Cgroups::NotOurs }
}

#[cfg(unix)]
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[cfg(unix)]
fn is_writable(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok()
}

#[cfg(not(unix))]
fn is_root() -> bool {
    false
}

#[cfg(not(unix))]
fn is_writable(_: &Path) -> bool {
    false
}
