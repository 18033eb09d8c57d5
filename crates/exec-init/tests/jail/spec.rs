//! The cell that the probes run in: the host's programs, a workspace, something read-only, and nothing else.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use exec_wire::{
    Access, CgroupPlan, FileId, IdMap, Identity, JailSpec, Missing, Mount, Namespaces, NetworkWall, Walls,
};
use tempfile::TempDir;

/// A user without a name: only the number exists.
pub(crate) const UNNAMED_USER: u32 = 54_321;

/// The maker of a cell, and the user its commands run as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Root makes it, an ordinary user runs in it.
    RootForUser,
    /// Root makes it and user 0, without capabilities, runs in it.
    RootForRoot,
    /// An ordinary user makes it.
    User,
}

impl Role {
    /// All the roles that this process can take.
    pub(crate) fn all() -> Vec<Self> {
        if rustix::process::geteuid().is_root() {
            vec![Self::RootForUser, Self::RootForRoot, Self::User]
        } else {
            vec![Self::User]
        }
    }

    /// The user to start the keeper as, if different from ours.
    pub(crate) fn outside(self) -> Option<u32> {
        let root = rustix::process::geteuid().is_root();
        (self == Self::User && root).then_some(UNNAMED_USER)
    }

    pub(crate) fn inside(self) -> u32 {
        match self {
            Self::RootForRoot => 0,
            Self::RootForUser => UNNAMED_USER,
            Self::User => self.outside().unwrap_or_else(|| rustix::process::geteuid().as_raw()),
        }
    }

    pub(crate) fn identity(self) -> Identity {
        let gid = match self {
            Self::User if self.outside().is_none() => rustix::process::getegid().as_raw(),
            _ => self.inside(),
        };
        Identity { uid: self.inside(), gid, groups: Vec::new() }
    }
}

/// Directories on the host that belong to one cell.
pub(crate) struct Stage {
    pub(crate) dir: TempDir,
    pub(crate) role: Role,
}

impl Stage {
    pub(crate) fn new(role: Role) -> Self {
        let dir = tempfile::Builder::new().permissions(PermissionsExt::from_mode(0o755)).tempdir().unwrap();
        for name in ["work", "ro"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
            own(&dir.path().join(name), role);
        }
        let secret = dir.path().join("ro/s");
        std::fs::write(&secret, "readable\n").unwrap();
        own(&secret, role);
        std::fs::write(dir.path().join("host-canary"), "outside\n").unwrap();
        Self { dir, role }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Gives a file of the host to the commands' user.
    pub(crate) fn own(&self, name: &str) {
        own(&self.path(name), self.role);
    }

    pub(crate) fn mounts(&self) -> Vec<Mount> {
        let mut mounts = vec![bind(Path::new("/usr"), "/usr", Access::Read)];
        for link in ["bin", "sbin", "lib", "lib64", "lib32", "libx32"] {
            if let Ok(to) = std::fs::read_link(Path::new("/").join(link)) {
                let to = to.into_os_string().into_encoded_bytes();
                mounts.push(Mount::Symlink { target: format!("/{link}").into_bytes(), to });
            }
        }
        mounts.extend([
            bind(Path::new("/etc"), "/etc", Access::Read),
            Mount::Mask { target: b"/etc/shadow".to_vec() },
            Mount::Mask { target: b"/etc/ssl/private".to_vec() },
            Mount::Mask { target: b"/etc/not-there".to_vec() },
            Mount::Tmpfs { target: b"/tmp".to_vec(), size: 1 << 20, mode: 0o1777 },
            Mount::Tmpfs { target: b"/home/agent".to_vec(), size: 1 << 20, mode: 0o700 },
            Mount::Proc,
            Mount::Dev { shm_size: 1 << 20 },
            bind(&self.path("ro"), "/ro", Access::Read),
            bind(&self.path("work"), "/workspace", Access::Write),
            Mount::File { target: b"/.cell".to_vec(), contents: b"made for this\n".to_vec() },
        ]);
        mounts
    }

    /// The walls of a cell with these mounts.
    pub(crate) fn walled(&self, mounts: Vec<Mount>) -> JailSpec {
        let ids = if self.role == Role::User { IdMap::Caller } else { IdMap::All };
        let walls = Namespaces { ids, network: NetworkWall::Isolated, hostname: "cell".into(), mounts };
        self.spec(Walls::Namespaces(walls))
    }

    pub(crate) fn namespaces(&self) -> JailSpec {
        self.walled(self.mounts())
    }

    pub(crate) fn subreaper(&self) -> JailSpec {
        self.spec(Walls::Subreaper { scratch: Vec::new() })
    }

    fn spec(&self, walls: Walls) -> JailSpec {
        let cgroup = CgroupPlan { name: unique(), memory: None, pids: None, cpu_milli: None };
        JailSpec {
            walls,
            identity: self.role.identity(),
            cgroup,
            landlock: None,
            log_note: Vec::new(),
            records: Vec::new(),
        }
    }
}

fn unique() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("exec-init-test-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

fn own(path: &Path, role: Role) {
    if rustix::process::geteuid().is_root() {
        chown(path, Some(role.inside()), Some(role.inside())).unwrap();
    }
}

pub(crate) fn file_id(path: &Path) -> FileId {
    let found = std::fs::symlink_metadata(path).unwrap();
    let born = found.created().unwrap().duration_since(std::time::UNIX_EPOCH).unwrap();
    FileId { dev: found.dev(), ino: found.ino(), born: born.as_nanos() as u64 }
}

pub(crate) fn bind(source: &Path, target: &str, access: Access) -> Mount {
    Mount::Bind {
        source: source.to_owned().into_os_string().into_encoded_bytes(),
        target: target.as_bytes().to_vec(),
        access,
        expect: Some(file_id(source)),
        missing: Missing::Fail,
    }
}
