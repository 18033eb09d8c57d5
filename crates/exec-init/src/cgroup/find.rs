//! Locates this process's control groups from `/proc/self/cgroup` and `/proc/self/mountinfo`.
//!
//! Assumes nothing about mount points and opens no group: text in, paths out.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use exec_wire::procfs::{Mount, mounts};
use rustix::fs::CWD;

use super::files;
use super::leaf::LEAF;

/// The groups of this process, as directories it can see.
#[derive(Debug, Default)]
pub(super) struct Hierarchies {
    mountinfo: Vec<u8>,
    own: Vec<(String, PathBuf)>,
}

/// A group's directory, and whether its parent is visible too.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) dir: PathBuf,
    pub(super) has_parent: bool,
}

impl Hierarchies {
    /// The hierarchies of the calling process.
    pub(super) fn of_self() -> Self {
        let cgroup = files::read(CWD, "/proc/self/cgroup").unwrap_or_default();
        Self::new(&cgroup, files::read_bytes(CWD, "/proc/self/mountinfo").unwrap_or_default())
    }

    fn new(cgroup: &str, mountinfo: Vec<u8>) -> Self {
        let own = cgroup.lines().filter_map(|line| {
            let mut fields = line.splitn(3, ':').skip(1);
            Some((fields.next()?.to_owned(), PathBuf::from(fields.next()?)))
        });
        Self { mountinfo, own: own.collect() }
    }

    /// Our group in the version 1 hierarchy of a controller.
    pub(super) fn v1(&self, controller: &str) -> Option<Place> {
        let named = |list: &str| list.split(',').any(|name| name == controller);
        let (_, own) = self.own.iter().find(|(controllers, _)| named(controllers))?;
        self.mounts(b"cgroup")
            .filter(|mount| mount.has_option(controller))
            .find_map(|mount| locate(&mount, own))
    }

    /// Our group in the unified hierarchy. If this process stepped aside for another cell, that is the group
    /// it left.
    pub(super) fn v2(&self) -> Option<Place> {
        let (_, own) = self.own.iter().find(|(controllers, _)| controllers.is_empty())?;
        let own = own.parent().filter(|_| own.ends_with(LEAF)).unwrap_or(own);
        self.mounts(b"cgroup2").find_map(|mount| locate(&mount, own))
    }

    fn mounts<'a>(&'a self, file_system: &'a [u8]) -> impl Iterator<Item = Mount<'a>> {
        mounts(&self.mountinfo).filter(move |mount| mount.file_system == file_system)
    }
}

/// Our group below a mount of its hierarchy.
fn locate(mount: &Mount<'_>, own: &Path) -> Option<Place> {
    let root = Path::new(OsStr::from_bytes(&mount.root));
    let point = Path::new(OsStr::from_bytes(&mount.point));
    match own.strip_prefix(root) {
        Ok(rest) if rest.as_os_str().is_empty() => Some(Place { dir: point.to_owned(), has_parent: false }),
        Ok(rest) => Some(Place { dir: point.join(rest), has_parent: true }),
        // Mounted from outside our cgroup namespace: such a mount shows exactly our own part.
        Err(_) if root.starts_with("/..") => Some(Place { dir: point.to_owned(), has_parent: false }),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &[u8] = b"31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
        32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n\
        35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
        41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";

    fn hierarchies(cgroup: &str, mountinfo: &[u8]) -> Hierarchies {
        Hierarchies::new(cgroup, mountinfo.to_vec())
    }

    fn place(dir: &str, has_parent: bool) -> Place {
        Place { dir: dir.into(), has_parent }
    }

    #[test]
    fn hybrid_host() {
        let found = hierarchies("4:memory:/jobs/7\n2:cpu,cpuacct:/\n0::/user\n", HYBRID);
        assert_eq!(found.v1("memory"), Some(place("/sys/fs/cgroup/memory/jobs/7", true)));
        assert_eq!(found.v1("cpu"), Some(place("/sys/fs/cgroup/cpu,cpuacct", false)));
        assert_eq!(found.v1("pids"), None);
        assert_eq!(found.v2(), Some(place("/sys/fs/cgroup/unified/user", true)));
    }

    #[test]
    fn unified_host() {
        let mounts = b"30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
        let found = hierarchies("0::/user.slice/user-1000.slice/session-2.scope\n", mounts);
        let dir = "/sys/fs/cgroup/user.slice/user-1000.slice/session-2.scope";
        assert_eq!(found.v2(), Some(place(dir, true)));
        assert_eq!(found.v1("memory"), None);
    }

    #[test]
    fn a_process_in_a_leaf_is_still_in_the_same_group() {
        let mounts = b"30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
        let v2 = |own: &str| hierarchies(own, mounts).v2();
        assert_eq!(v2("0::/x.service/agentctl-aside\n"), Some(place("/sys/fs/cgroup/x.service", true)));
        assert_eq!(v2("0::/agentctl-aside\n"), Some(place("/sys/fs/cgroup", false)));
    }

    #[test]
    fn container_without_a_cgroup_namespace() {
        let mounts = b"9 8 0:32 /docker/ab /sys/fs/cgroup/mem\\040ory ro - cgroup cgroup rw,memory\n";
        let found = hierarchies("4:memory:/docker/ab\n", mounts);
        assert_eq!(found.v1("memory"), Some(place("/sys/fs/cgroup/mem ory", false)));
    }

    #[test]
    fn another_groups_mount_is_not_ours() {
        let mounts = b"9 8 0:32 /docker/ab /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";
        assert_eq!(hierarchies("4:memory:/docker/abc\n", mounts).v1("memory"), None);
    }

    #[test]
    fn nonsense_finds_nothing() {
        let found = hierarchies("x\n\n:::\n", b"a b c\n\\\\0 - cgroup2\n");
        assert_eq!((found.v1("memory"), found.v2()), (None, None));
    }
}
