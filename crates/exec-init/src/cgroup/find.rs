//! Locates this process's control groups from `/proc/self/cgroup` and `/proc/self/mountinfo`.
//!
//! Assumes nothing about mount points and opens no group: text in, paths out.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::CWD;

use super::files;
use super::leaf::LEAF;

/// The groups of this process, as directories it can see.
#[derive(Debug, Default)]
pub(super) struct Hierarchies {
    mounts: Vec<MountPoint>,
    own: Vec<(String, PathBuf)>,
}

#[derive(Debug)]
struct MountPoint {
    /// The part of the hierarchy that is mounted.
    root: PathBuf,
    place: PathBuf,
    unified: bool,
    options: String,
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
        let mounts = files::read_bytes(CWD, "/proc/self/mountinfo").unwrap_or_default();
        Self::parse(&cgroup, &mounts)
    }

    fn parse(cgroup: &str, mountinfo: &[u8]) -> Self {
        let own = cgroup.lines().filter_map(|line| {
            let mut fields = line.splitn(3, ':').skip(1);
            Some((fields.next()?.to_owned(), PathBuf::from(fields.next()?)))
        });
        let mounts = mountinfo.split(|byte| *byte == b'\n').filter_map(parse_mount);
        Self { mounts: mounts.collect(), own: own.collect() }
    }

    /// Our group in the version 1 hierarchy of a controller.
    pub(super) fn v1(&self, controller: &str) -> Option<Place> {
        let named = |list: &str| list.split(',').any(|name| name == controller);
        let (_, own) = self.own.iter().find(|(controllers, _)| named(controllers))?;
        self.mounts.iter().filter(|m| !m.unified && named(&m.options)).find_map(|m| m.locate(own))
    }

    /// Our group in the unified hierarchy. If this process stepped aside for another cell, that is the group
    /// it left.
    pub(super) fn v2(&self) -> Option<Place> {
        let (_, own) = self.own.iter().find(|(controllers, _)| controllers.is_empty())?;
        let own = own.parent().filter(|_| own.ends_with(LEAF)).unwrap_or(own);
        self.mounts.iter().filter(|m| m.unified).find_map(|m| m.locate(own))
    }
}

impl MountPoint {
    fn locate(&self, own: &Path) -> Option<Place> {
        match own.strip_prefix(&self.root) {
            Ok(rest) if rest.as_os_str().is_empty() => {
                Some(Place { dir: self.place.clone(), has_parent: false })
            }
            Ok(rest) => Some(Place { dir: self.place.join(rest), has_parent: true }),
            // Mounted from outside our cgroup namespace: such a mount shows exactly our own part.
            Err(_) if self.root.starts_with("/..") => {
                Some(Place { dir: self.place.clone(), has_parent: false })
            }
            Err(_) => None,
        }
    }
}

/// `id parent major:minor ROOT PLACE options [tags…] - TYPE source SUPER-OPTIONS`
fn parse_mount(line: &[u8]) -> Option<MountPoint> {
    let mut fields = line.split(|byte| *byte == b' ');
    let root = unescape(fields.nth(3)?);
    let place = unescape(fields.next()?);
    let kind = fields.by_ref().skip_while(|field| *field != b"-").nth(1)?;
    let unified = match kind {
        b"cgroup2" => true,
        b"cgroup" => false,
        _ => return None,
    };
    let options = String::from_utf8_lossy(fields.nth(1)?).into_owned();
    Some(MountPoint { root, place, unified, options })
}

/// Blanks, tabs, newlines and backslashes are written in octal.
fn unescape(field: &[u8]) -> PathBuf {
    let mut out = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let octal = match (first, after) {
            (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..]) => {
                Some((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'))
            }
            _ => None,
        };
        out.push(octal.unwrap_or(*first));
        rest = if octal.is_some() { after.get(3..).unwrap_or_default() } else { after };
    }
    PathBuf::from(OsString::from_vec(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &[u8] = b"31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
        32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n\
        35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
        41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";

    fn place(dir: &str, has_parent: bool) -> Place {
        Place { dir: dir.into(), has_parent }
    }

    #[test]
    fn hybrid_host() {
        let found = Hierarchies::parse("4:memory:/jobs/7\n2:cpu,cpuacct:/\n0::/user\n", HYBRID);
        assert_eq!(found.v1("memory"), Some(place("/sys/fs/cgroup/memory/jobs/7", true)));
        assert_eq!(found.v1("cpu"), Some(place("/sys/fs/cgroup/cpu,cpuacct", false)));
        assert_eq!(found.v1("pids"), None);
        assert_eq!(found.v2(), Some(place("/sys/fs/cgroup/unified/user", true)));
    }

    #[test]
    fn unified_host() {
        let mounts = b"30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
        let found = Hierarchies::parse("0::/user.slice/user-1000.slice/session-2.scope\n", mounts);
        let dir = "/sys/fs/cgroup/user.slice/user-1000.slice/session-2.scope";
        assert_eq!(found.v2(), Some(place(dir, true)));
        assert_eq!(found.v1("memory"), None);
    }

    #[test]
    fn who_stepped_aside_is_still_in_the_same_group() {
        let mounts = b"30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
        let v2 = |own: &str| Hierarchies::parse(own, mounts).v2();
        assert_eq!(v2("0::/x.service/agentctl-aside\n"), Some(place("/sys/fs/cgroup/x.service", true)));
        assert_eq!(v2("0::/agentctl-aside\n"), Some(place("/sys/fs/cgroup", false)));
    }

    #[test]
    fn container_without_a_cgroup_namespace() {
        let mounts = b"9 8 0:32 /docker/ab /sys/fs/cgroup/mem\\040ory ro - cgroup cgroup rw,memory\n";
        let found = Hierarchies::parse("4:memory:/docker/ab\n", mounts);
        assert_eq!(found.v1("memory"), Some(place("/sys/fs/cgroup/mem ory", false)));
    }

    #[test]
    fn another_groups_mount_is_not_ours() {
        let mounts = b"9 8 0:32 /docker/ab /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";
        assert_eq!(Hierarchies::parse("4:memory:/docker/abc\n", mounts).v1("memory"), None);
    }

    #[test]
    fn nonsense_finds_nothing() {
        let found = Hierarchies::parse("x\n\n:::\n", b"a b c\n\\\\0 - cgroup2\n");
        assert_eq!((found.v1("memory"), found.v2()), (None, None));
    }
}
