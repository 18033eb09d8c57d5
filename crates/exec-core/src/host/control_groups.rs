//! Whether control groups can enforce a local cell's limits here, and how to enable them.

use std::path::Path;

use serde::Serialize;

use super::container_sign;
use crate::{Operation, Remedy};

/// The controllers that a cell's limits need.
const CONTROLLERS: [&str; 3] = ["cpu", "memory", "pids"];

/// Whether this process can use control groups.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ControlGroups {
    /// The system has none.
    #[default]
    None,
    /// Only version 1, which only root can use.
    RootsAlone,
    /// systemd would create one, but runs no manager for this user.
    NoUserManager,
    /// This user's systemd manager lacks some controllers.
    PartlyDelegated,
    /// This container can't write to its own control group.
    SealedContainer,
    /// The system has no systemd, and none are delegated to this user.
    NotDelegated,
    /// This process can create its own.
    Ours,
}

impl ControlGroups {
    /// Looks at this process's control groups.
    pub fn look() -> Self {
        Self::below(Path::new("/"), user(), is_writable)
    }

    /// The same for a given user, from the kernel's files below `root` and whether they are writable.
    fn below(root: &Path, user: u32, is_writable: impl Fn(&Path) -> bool) -> Self {
        let mounted = root.join("sys/fs/cgroup");
        let own = std::fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
        if mounted.join("cgroup.controllers").exists() {
            let path = own.lines().find_map(|line| line.strip_prefix("0::")).unwrap_or("/");
            if is_writable(&below_mount(&mounted, path)) { Self::Ours } else { managed(root, &mounted, user) }
        } else if mounted.join("memory").exists() {
            if is_writable(&own_v1(&mounted, &own)) { Self::Ours } else { Self::RootsAlone }
        } else {
            Self::None
        }
    }

    /// The problem, or `None` if limits can be enforced.
    pub fn problem(self) -> Option<&'static str> {
        match self {
            Self::None => Some("there are none"),
            Self::RootsAlone => Some("they are of the old kind (v1), which only root can use"),
            Self::NoUserManager => Some("no systemd is running for this user"),
            Self::PartlyDelegated => Some("systemd does not give this user all of memory, pids and cpu"),
            Self::SealedContainer => Some("this container can't write to its own"),
            Self::NotDelegated => Some("this user was given none"),
            Self::Ours => None,
        }
    }

    /// How to make limits enforceable.
    pub fn fix(self) -> Remedy {
        match self {
            Self::None => Remedy::host("mount control groups at /sys/fs/cgroup").or(Remedy::container()),
            Self::RootsAlone => Remedy::host("run it as root")
                .or(Remedy::host("boot with `systemd.unified_cgroup_hierarchy=1`"))
                .or(Remedy::container()),
            Self::NoUserManager => Remedy::host("log in as this user rather than with `su` or `sudo`")
                .or(Remedy::host("run `sudo loginctl enable-linger $(id -un)` once"))
                .or(Remedy::container()),
            Self::PartlyDelegated => Remedy::host(
                "`sudo systemctl edit user@.service` with the lines `[Service]` and `Delegate=cpu memory pids`, then log in again",
            ),
            Self::SealedContainer => {
                Remedy::host("start this container as privileged, so that it can write to its control group")
            }
            Self::NotDelegated => Remedy::host("run it as root").or(Remedy::container()),
            Self::Ours => Remedy::from(Operation::Trace).or(Remedy::container()),
        }
    }
}

/// The groups that systemd creates when a cell's keeper asks for them.
fn managed(root: &Path, mounted: &Path, user: u32) -> ControlGroups {
    let has_systemd = root.join("run/systemd/system").exists();
    if user == 0 && has_systemd {
        return ControlGroups::Ours;
    }
    let runtime = root.join(format!("run/user/{user}"));
    let has_manager = ["bus", "systemd/private"].iter().any(|socket| runtime.join(socket).exists());
    if has_systemd && has_manager {
        let manager =
            mounted.join(format!("user.slice/user-{user}.slice/user@{user}.service/cgroup.controllers"));
        // If it can't be read here, the keeper finds out.
        let given = std::fs::read_to_string(manager).unwrap_or_else(|_| CONTROLLERS.join(" "));
        let is_given = |name: &&str| given.split_whitespace().any(|one| one == *name);
        let all = CONTROLLERS.iter().all(is_given);
        return if all { ControlGroups::Ours } else { ControlGroups::PartlyDelegated };
    }
    if has_systemd {
        ControlGroups::NoUserManager
    } else if container_sign(root).is_some() || user == 0 {
        ControlGroups::SealedContainer
    } else {
        ControlGroups::NotDelegated
    }
}

/// This process's group in the hierarchy that counts memory.
fn own_v1(mounted: &Path, own: &str) -> std::path::PathBuf {
    let mut lines = own.lines().filter_map(|line| line.split_once(':')?.1.split_once(':'));
    let memory = lines.find(|(controllers, _)| controllers.split(',').any(|one| one == "memory"));
    below_mount(&mounted.join("memory"), memory.map_or("/", |(_, path)| path))
}

/// In a container the path may be the host's, of which the mount shows only the end.
fn below_mount(mount: &Path, path: &str) -> std::path::PathBuf {
    let own = mount.join(path.trim_start_matches('/'));
    if own.exists() { own } else { mount.to_owned() }
}

#[cfg(unix)]
fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[cfg(unix)]
fn is_writable(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok()
}

#[cfg(not(unix))]
fn user() -> u32 {
    u32::MAX
}

#[cfg(not(unix))]
fn is_writable(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::super::tree;
    use super::*;

    const V2: (&str, &str) = ("sys/fs/cgroup/cgroup.controllers", "cpu memory pids");
    const SYSTEMD: (&str, &str) = ("run/systemd/system/x", "");
    const BUS: (&str, &str) = ("run/user/7/bus", "");
    const MANAGER: &str = "sys/fs/cgroup/user.slice/user-7.slice/user@7.service/cgroup.controllers";

    fn sealed(files: &[(&str, &str)], user: u32) -> ControlGroups {
        ControlGroups::below(tree(files).path(), user, |_| false)
    }

    /// R65: each situation has its own remedy.
    #[test]
    fn where_groups_can_be_had_is_known() {
        assert_eq!(sealed(&[], 0), ControlGroups::None);
        assert_eq!(sealed(&[("sys/fs/cgroup/memory/tasks", "")], 7), ControlGroups::RootsAlone);
        assert_eq!(sealed(&[V2, SYSTEMD], 0), ControlGroups::Ours);
        assert_eq!(sealed(&[V2, SYSTEMD], 7), ControlGroups::NoUserManager);
        assert_eq!(sealed(&[V2, SYSTEMD, BUS], 8), ControlGroups::NoUserManager);
        assert_eq!(sealed(&[V2, SYSTEMD, BUS], 7), ControlGroups::Ours);
        assert_eq!(sealed(&[V2, SYSTEMD, BUS, (MANAGER, "cpu memory pids\n")], 7), ControlGroups::Ours);
        assert_eq!(
            sealed(&[V2, SYSTEMD, BUS, (MANAGER, "memory pids\n")], 7),
            ControlGroups::PartlyDelegated
        );
        assert_eq!(sealed(&[V2, (".dockerenv", "")], 7), ControlGroups::SealedContainer);
        assert_eq!(sealed(&[V2], 0), ControlGroups::SealedContainer);
        assert_eq!(sealed(&[V2], 7), ControlGroups::NotDelegated);
    }

    #[test]
    fn groups_are_ours_where_we_can_make_one() {
        let ours = |files: &[(&str, &str)], own: &str| {
            let tree = tree(files);
            let own = tree.path().join(own);
            ControlGroups::below(tree.path(), 7, |path| path == own)
        };
        let unified = [V2, ("proc/self/cgroup", "0::/a/b\n"), ("sys/fs/cgroup/a/b/cgroup.procs", "")];
        assert_eq!(ours(&unified, "sys/fs/cgroup/a/b"), ControlGroups::Ours);
        assert_eq!(ours(&unified, "sys/fs/cgroup"), ControlGroups::NotDelegated);
        let hybrid =
            [("proc/self/cgroup", "12:pids:/a\n5:memory:/b\n0::/\n"), ("sys/fs/cgroup/memory/b/tasks", "")];
        assert_eq!(ours(&hybrid, "sys/fs/cgroup/memory/b"), ControlGroups::Ours);
        assert_eq!(ours(&hybrid, "sys/fs/cgroup/memory"), ControlGroups::RootsAlone);
    }
}
