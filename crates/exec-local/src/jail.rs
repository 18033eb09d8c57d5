//! Translates a plan into the cell it needs. Pure: the host was inspected before, the keeper carries it out
//! later.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use exec_core::{
    Access, ByteSize, Change, Error, ErrorKind, Network, Plan, PlannedMount, Remedy, Result, User,
};
use exec_host::{HostView, SystemEntry};
use exec_wire::{
    CgroupPlan, FileId, IdMap, Identity, JailSpec, LandlockPlan, Missing, Mount, Namespaces, NetworkWall,
    Walls,
};

use crate::config::NAME;

/// Another name for `/tmp`, unless the run has a mount below it.
const VAR_TMP: &str = "/var/tmp";

/// The calling user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Caller {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    /// Root over all user ids, not only over those of a user namespace made for it.
    pub(crate) rules_all_ids: bool,
}

impl Caller {
    /// The ids its cells can have.
    pub(crate) fn id_map(self) -> IdMap {
        if self.rules_all_ids { IdMap::All } else { IdMap::Caller }
    }
}

/// The kind of walls that cells get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WallKind {
    Namespaces,
    Subreaper,
}

/// The cell for a planned run. Its control groups and scratch directory are named when it is made.
pub(crate) fn spec(plan: &Plan, walls: WallKind, caller: Caller, host: &HostView) -> Result<JailSpec> {
    if plan.network == Some(Network::Bridge) {
        return Err(unsupported("there is no bridge network without a container engine").with_remedy(
            Remedy::from(Change::set("network", Network::None))
                .or(Change::set("network", Network::Host))
                .or(Remedy::container()),
        ));
    }
    let identity = identity(plan, caller)?;
    let cgroup = CgroupPlan {
        name: String::new(),
        memory: plan.limits.memory.map(ByteSize::get),
        pids: plan.limits.pids.map(u64::from),
        cpu_milli: plan.limits.cpus.map(exec_core::Cpus::milli),
    };
    match walls {
        WallKind::Namespaces => Ok(JailSpec {
            walls: Walls::Namespaces(namespaces(plan, caller, host)),
            identity,
            cgroup,
            landlock: Some(LandlockPlan {
                deny_tcp: false,
                read: vec![b"/".to_vec()],
                write: writable(plan, host),
            }),
            log_note: Vec::new(),
            records: Vec::new(),
        }),
        WallKind::Subreaper => {
            if plan.network == Some(Network::None) {
                return Err(unsupported("a network of `none` can't be held without namespaces").with_remedy(
                    Remedy::from(
                        Change::leave_out("network").with_purpose("to have TCP denied where Landlock can"),
                    )
                    .or(Remedy::container()),
                ));
            }
            let walls = Walls::Subreaper { scratch: Vec::new() };
            let landlock = Some(fence(plan, host));
            Ok(JailSpec { walls, identity, cgroup, landlock, log_note: Vec::new(), records: Vec::new() })
        }
    }
}

fn unsupported(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Unsupported, "start", message).with_backend(NAME)
}

/// Root runs commands as the owner of the workspace, so that files made inside belong to that owner; other
/// callers can only run commands as themselves.
fn identity(plan: &Plan, caller: Caller) -> Result<Identity> {
    let (uid, gid) = match (plan.user, caller.rules_all_ids) {
        (_, true) => plan.identity()?,
        (User::Auto, false) => (caller.uid, caller.gid),
        (User::Id { uid, gid }, false) if (uid, gid) == (caller.uid, caller.gid) => (uid, gid),
        (User::Id { uid, gid }, false) => {
            return Err(unsupported(format!("only root can run a command as {uid}:{gid}"))
                .with_remedy(Remedy::from(Change::leave_out("user")).or(Remedy::host("run as root"))));
        }
    };
    Ok(Identity { uid, gid, groups: Vec::new() })
}

fn namespaces(plan: &Plan, caller: Caller, host: &HostView) -> Namespaces {
    let network = match plan.network {
        Some(Network::Host) => NetworkWall::Host,
        _ => NetworkWall::Isolated,
    };
    Namespaces { ids: caller.id_map(), network, hostname: "cell".into(), mounts: mounts(plan, host, network) }
}

/// Hides the system's secrets: mounted over the system's directories, below the paths given to the command.
pub(crate) fn mask_secrets(spec: &mut JailSpec, host: &HostView, secrets: &[PathBuf]) {
    if let Walls::Namespaces(Namespaces { mounts, .. }) = &mut spec.walls {
        let above_system = host.system.len().min(mounts.len());
        let target = |mount: &Mount| match mount {
            Mount::Bind { target, .. } => Some(PathBuf::from(OsStr::from_bytes(target))),
            _ => None,
        };
        let bound: Vec<PathBuf> = mounts.iter().skip(above_system).filter_map(target).collect();
        let given: Vec<&Path> = bound.iter().map(PathBuf::as_path).collect();
        let masks: Vec<Mount> = exec_host::secrets_beside(secrets, &given).map(mask).collect();
        mounts.splice(above_system..above_system, masks);
    }
}

fn mounts(plan: &Plan, host: &HostView, network: NetworkWall) -> Vec<Mount> {
    let mut mounts: Vec<Mount> = host.system.iter().map(system_mount).collect();
    // Programs count processors here.
    mounts.push(read_only(Path::new("/sys/devices/system/cpu")));
    mounts.push(Mount::Proc);
    mounts.push(Mount::Dev { shm_size: plan.limits.tmp_size.get() });
    mounts.push(tmpfs(Path::new("/tmp"), plan.limits.tmp_size, 0o1777));
    mounts.push(tmpfs(Path::new("/run"), plan.limits.run_size, 0o1777));
    mounts.push(if has_own_var_tmp(plan) {
        tmpfs(Path::new(VAR_TMP), plan.limits.tmp_size, 0o1777)
    } else {
        Mount::Symlink { target: VAR_TMP.into(), to: b"/tmp".to_vec() }
    });
    mounts.push(Mount::Symlink { target: b"/var/run".to_vec(), to: b"/run".to_vec() });
    if let Some(home) = host.private_home(&given(plan)) {
        mounts.push(tmpfs(home, plan.limits.tmp_size, 0o700));
    }
    if network == NetworkWall::Host {
        mounts.extend(resolver());
    }
    mounts.extend(host.toolchains_beside(&given(plan)).map(read_only));
    mounts.extend(host.credentials_beside(&given(plan)).map(mask));
    mounts.extend(plan.mounts.iter().map(planned));
    mounts
}

/// A mount below `/var/tmp` keeps its path only if `/var/tmp` is not a link.
fn has_own_var_tmp(plan: &Plan) -> bool {
    given(plan).iter().any(|target| target.starts_with(VAR_TMP))
}

fn system_mount(entry: &SystemEntry) -> Mount {
    match entry {
        SystemEntry::Directory(path) => read_only(path),
        SystemEntry::Link { path, to, .. } => Mount::Symlink { target: bytes(path), to: bytes(to) },
    }
}

/// With the host's network, names resolve as on the host, where the resolver's file is often in `/run`.
fn resolver() -> Option<Mount> {
    let real = Path::new("/etc/resolv.conf").canonicalize().ok()?;
    (!real.starts_with("/etc")).then(|| read_only(&real))
}

/// The targets of the run's own mounts.
fn given(plan: &Plan) -> Vec<&Path> {
    plan.mounts.iter().map(|mount| mount.target.as_path()).collect()
}

fn planned(mount: &PlannedMount) -> Mount {
    Mount::Bind {
        source: bytes(&mount.source),
        target: bytes(&mount.target),
        access: match mount.access {
            Access::ReadOnly => exec_wire::Access::Read,
            Access::ReadWrite => exec_wire::Access::Write,
        },
        expect: Some(FileId { dev: mount.id.dev, ino: mount.id.ino, born: mount.id.born }),
        missing: Missing::Fail,
    }
}

fn read_only(path: &Path) -> Mount {
    Mount::Bind {
        source: bytes(path),
        target: bytes(path),
        access: exec_wire::Access::Read,
        expect: None,
        missing: Missing::Skip,
    }
}

fn mask(path: &Path) -> Mount {
    Mount::Mask { target: bytes(path) }
}

fn tmpfs(target: &Path, size: ByteSize, mode: u32) -> Mount {
    Mount::Tmpfs { target: bytes(target), size: size.get(), mode }
}

/// The paths Landlock lets a command write inside the walls: the writable mounts once more.
fn writable(plan: &Plan, host: &HostView) -> Vec<Vec<u8>> {
    let var_tmp = has_own_var_tmp(plan).then_some(VAR_TMP);
    let own = ["/tmp", "/run", "/dev", "/proc"].into_iter().chain(var_tmp).map(PathBuf::from);
    let mounted = plan
        .mounts
        .iter()
        .filter(|mount| mount.access == Access::ReadWrite)
        .map(|mount| mount.target.clone());
    own.chain(mounted)
        .chain(host.private_home(&given(plan)).map(Path::to_owned))
        .map(|path| bytes(&path))
        .collect()
}

/// Without walls Landlock is the only fence: it permits reading what a cell would show and writing what would be
/// writable in a cell. It can open everything below a path but not close a part of it again, so `/tmp` stays
/// closed if it holds something that must not be written; commands have their own temporary directory.
fn fence(plan: &Plan, host: &HostView) -> LandlockPlan {
    let tmp = Path::new("/tmp");
    let (opened, closed): (Vec<_>, Vec<_>) = plan.mounts.iter().partition(|mount| is_opened(mount, plan));
    let is_within_opened = |path: &Path| opened.iter().any(|mount| path.starts_with(&mount.source));
    let tmp_is_open =
        closed.iter().all(|mount| !mount.source.starts_with(tmp) || is_within_opened(&mount.source));
    let system = host.system.iter().map(SystemEntry::path);
    let kernel = ["/proc", "/sys", "/tmp", "/run/systemd/resolve"].map(Path::new);
    let toolchains = host.toolchains.iter().map(PathBuf::as_path);
    let shared_memory = Path::new("/dev/shm");
    let source = |mount: &&'_ PlannedMount| bytes(&mount.source);
    LandlockPlan {
        deny_tcp: plan.network != Some(Network::Host),
        read: system.chain(kernel).chain(toolchains).map(bytes).chain(closed.iter().map(source)).collect(),
        // The harmless devices are always allowed; the others, including disks, belong to the host.
        write: [shared_memory]
            .into_iter()
            .chain(tmp_is_open.then_some(tmp))
            .map(bytes)
            .chain(opened.iter().map(source))
            .collect(),
    }
}

/// Whether Landlock makes all of a mount writable. Outside the workspace it does not if the plan marks some
/// entries of the mount writable and others read-only: then only the former are.
fn is_opened(mount: &PlannedMount, plan: &Plan) -> bool {
    let has = |access| {
        let is_in = |other: &PlannedMount| other.source.parent() == Some(mount.source.as_path());
        plan.mounts.iter().any(|other| other.access == access && is_in(other))
    };
    mount.access == Access::ReadWrite
        && (mount.source.starts_with(&plan.workspace) || !has(Access::ReadOnly) || !has(Access::ReadWrite))
}

fn bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

#[cfg(test)]
mod tests;
