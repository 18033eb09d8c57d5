//! Translates the facts a cell read back into the isolation report of every result. Pure.

use std::collections::BTreeSet;

use exec_cell::{CellLimits, not_held};
use exec_core::{Capabilities, Claim, Held, Isolation, IsolationLevel, LimitName, LimitReport};
use exec_wire::{CgroupPlan, Facts, JailSpec, NetworkWall, Note, Subject, Walls};

use crate::jail::WallKind;

/// Claims of any cell with these walls.
const ALWAYS: [Claim; 4] =
    [Claim::KillsDescendants, Claim::DiesWithOwner, Claim::NoPrivileges, Claim::SyscallFilter];

/// Further claims of namespaces.
const BY_NAMESPACES: [Claim; 9] = [
    Claim::ProtectsSupervisor,
    Claim::NoSignalsOut,
    Claim::HidesProcesses,
    Claim::HidesFiles,
    Claim::ReadOnlySystem,
    Claim::PrivateTmp,
    Claim::NoSocketsOutsideMounts,
    Claim::NoNetwork,
    Claim::OwnUserNamespace,
];

/// Landlock versions that can deny TCP, and confine signals.
const ABI_TCP: u32 = 4;
const ABI_SCOPES: u32 = 6;

/// The capabilities before the first cell has reported: nothing that could turn out wrong.
pub(crate) fn nothing_yet(walls: WallKind) -> Capabilities {
    Capabilities {
        level: level(walls),
        claims: BTreeSet::new(),
        tty: true,
        sessions: true,
        images: false,
        engine: None,
        exceptions: BTreeSet::new(),
    }
}

fn level(walls: WallKind) -> IsolationLevel {
    match walls {
        WallKind::Namespaces => IsolationLevel::Namespaces,
        WallKind::Subreaper => IsolationLevel::Subreaper,
    }
}

/// The executor's capabilities, from the facts of its first cell.
pub(crate) fn capabilities(walls: WallKind, facts: &Facts) -> Capabilities {
    let mut claims: BTreeSet<Claim> =
        ALWAYS.into_iter().filter(|claim| holds_always(*claim, facts)).collect();
    match walls {
        WallKind::Namespaces => claims.extend(BY_NAMESPACES),
        WallKind::Subreaper => claims.extend(by_landlock(facts.landlock_abi)),
    }
    claims.extend(by_limits(facts, walls));
    Capabilities { claims, ..nothing_yet(walls) }
}

fn holds_always(claim: Claim, facts: &Facts) -> bool {
    match claim {
        Claim::NoPrivileges => facts.no_new_privs && facts.capabilities == 0,
        Claim::SyscallFilter => facts.seccomp,
        _ => true,
    }
}

fn by_landlock(abi: u32) -> Vec<Claim> {
    let mut claims = Vec::new();
    if abi >= 1 {
        claims.push(Claim::ReadOnlySystem);
    }
    if abi >= ABI_TCP {
        claims.push(Claim::NoTcp);
    }
    if abi >= ABI_SCOPES {
        claims.extend([Claim::NoSignalsOut, Claim::ProtectsSupervisor]);
    }
    claims
}

fn by_limits(facts: &Facts, walls: WallKind) -> Vec<Claim> {
    let held = [
        (facts.limits.memory.is_some(), Claim::MemoryLimit),
        (facts.limits.pids.is_some() || nproc_holds(facts, walls), Claim::PidsLimit),
        (facts.limits.cpu_milli.is_some(), Claim::CpuLimit),
        (facts.inotify_instances.is_some(), Claim::WatchLimit),
    ];
    held.into_iter().filter(|(holds, _)| *holds).map(|(_, claim)| claim).collect()
}

/// In its own user namespace the kernel counts an ordinary user's processes for the namespace alone, so the
/// per-user limit is the cell's. Root is exempt from it.
pub(crate) fn nproc_holds(facts: &Facts, walls: WallKind) -> bool {
    walls == WallKind::Namespaces && facts.uid != 0
}

/// The report for a run in this cell.
pub(crate) fn report(spec: &JailSpec, facts: &Facts) -> Isolation {
    let walls = match spec.walls {
        Walls::Namespaces(_) => WallKind::Namespaces,
        Walls::Subreaper { .. } => WallKind::Subreaper,
    };
    let Capabilities { level, mut claims, .. } = capabilities(walls, facts);
    let mut degraded: Vec<String> = facts.notes.iter().map(Note::to_string).collect();
    let tcp_open = spec.landlock.as_ref().is_none_or(|landlock| !landlock.deny_tcp);
    match &spec.walls {
        Walls::Namespaces(namespaces) if namespaces.network == NetworkWall::Host => {
            claims.retain(|claim| ![Claim::NoNetwork, Claim::NoSocketsOutsideMounts].contains(claim));
        }
        Walls::Namespaces(_) => {}
        Walls::Subreaper { .. } => {
            if tcp_open {
                claims.remove(&Claim::NoTcp);
            }
            degraded.extend(subreaper_gaps(&claims));
        }
    }
    let limits = limits(spec, facts, walls);
    degraded.extend(limits.iter().filter_map(not_held));
    Isolation {
        level,
        claims,
        uid: facts.uid,
        gid: facts.gid,
        landlock_abi: facts.landlock_abi,
        image: None,
        limits,
        degraded,
    }
}

fn subreaper_gaps(claims: &BTreeSet<Claim>) -> Vec<String> {
    let mut gaps = vec![
        "no namespaces: the command sees the host's processes and shares its /tmp".to_owned(),
        "no network namespace: local sockets and UDP are not blocked".to_owned(),
        "no mount namespace: credentials in toolchains and /etc are not masked".to_owned(),
    ];
    let missing = [
        (Claim::ReadOnlySystem, "no Landlock: the command reads and writes whatever its user may"),
        (Claim::NoTcp, "TCP connections are not blocked"),
        (Claim::ProtectsSupervisor, "the command can signal its supervisor and other processes of its user"),
    ];
    gaps.extend(
        missing.iter().filter(|(claim, _)| !claims.contains(claim)).map(|(_, gap)| (*gap).to_owned()),
    );
    gaps
}

fn limits(spec: &JailSpec, facts: &Facts, walls: WallKind) -> Vec<LimitReport> {
    let CgroupPlan { memory, pids, cpu_milli, .. } = spec.cgroup;
    CellLimits { memory, pids, cpu_milli }.reports(&facts.limits, |limit| match limit {
        LimitName::Memory => memory_by_process(),
        LimitName::Pids if nproc_holds(facts, walls) => {
            Held::Enforced { by: "RLIMIT_NPROC in a user namespace of its own".into() }
        }
        _ => Held::NotEnforced { why: why_not(limit, &facts.notes) },
    })
}

/// The keeper's note about a limit it could not set.
fn why_not(limit: LimitName, notes: &[Note]) -> String {
    let about = match limit {
        LimitName::Memory => Subject::Memory,
        LimitName::Pids => Subject::Pids,
        _ => Subject::Cpu,
    };
    let note = notes.iter().find(|note| note.about == about);
    note.map_or("no control group can be written here", |note| &note.why).to_owned()
}

/// The only memory limit that an ordinary user has without control groups. The kernel charges shareable
/// memory to no process, and each process has the limit to itself.
fn memory_by_process() -> Held {
    Held::InPart {
        by: "RLIMIT_DATA for the private memory of each process".into(),
        gap: "all processes together, shared memory (memfd, MAP_SHARED, System V), buffers of pipes and sockets, or \
              files in /tmp, /dev/shm and the home directory (the option `tmp_size` bounds each of those)"
            .into(),
    }
}

#[cfg(test)]
mod tests {
    use exec_wire::{CgroupVersion, IdMap, Identity, LandlockPlan, Namespaces, ReadBack};

    use super::*;

    fn facts(uid: u32, limits: ReadBack, landlock_abi: u32) -> Facts {
        Facts {
            version: 1,
            pid_namespace: true,
            uid,
            gid: uid,
            capabilities: 0,
            no_new_privs: true,
            seccomp: true,
            landlock_abi,
            inotify_instances: Some(32),
            limits,
            notes: Vec::new(),
        }
    }

    fn spec(walls: Walls) -> JailSpec {
        JailSpec {
            walls,
            identity: Identity { uid: 1, gid: 1, groups: Vec::new() },
            cgroup: CgroupPlan {
                name: "x".into(),
                memory: Some(1 << 30),
                pids: Some(32),
                cpu_milli: Some(1500),
            },
            landlock: Some(LandlockPlan { deny_tcp: true, read: Vec::new(), write: Vec::new() }),
            log_note: Vec::new(),
            records: Vec::new(),
        }
    }

    fn namespaces(network: NetworkWall) -> Walls {
        Walls::Namespaces(Namespaces {
            ids: IdMap::Caller,
            network,
            hostname: "x".into(),
            mounts: Vec::new(),
        })
    }

    const ALL_LIMITS: ReadBack = ReadBack {
        cgroup: Some(CgroupVersion::V2),
        memory: Some(1 << 30),
        pids: Some(32),
        cpu_milli: Some(1500),
    };

    #[test]
    fn with_control_groups_nothing_is_degraded() {
        let report = report(&spec(namespaces(NetworkWall::Isolated)), &facts(0, ALL_LIMITS, 7));
        assert_eq!(report.degraded, Vec::<String>::new());
        assert!(report.holds(Claim::MemoryLimit) && report.holds(Claim::NoNetwork));
    }

    /// R41
    #[test]
    fn without_them_every_limit_says_how_far_it_holds() {
        let report = report(&spec(namespaces(NetworkWall::Isolated)), &facts(1000, ReadBack::default(), 7));
        let held: Vec<(LimitName, bool)> = report
            .limits
            .iter()
            .map(|limit| (limit.limit, matches!(limit.held, Held::Enforced { .. })))
            .collect();
        assert_eq!(held, [(LimitName::Memory, false), (LimitName::Pids, true), (LimitName::Cpus, false)]);
        assert_eq!(report.degraded.len(), 2, "{:?}", report.degraded);
        assert!(!report.holds(Claim::MemoryLimit) && report.holds(Claim::PidsLimit));
    }

    /// R65: the reason is the one the keeper met on this host.
    #[test]
    fn the_reason_is_the_keepers() {
        let mut facts = facts(0, ReadBack::default(), 7);
        facts.notes = vec![Note::new(Subject::Cpu, "no control group: no systemd of this user is running")];
        let report = report(&spec(namespaces(NetworkWall::Isolated)), &facts);
        let why = |name| match &report.limits.iter().find(|limit| limit.limit == name).unwrap().held {
            Held::NotEnforced { why } => why.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(why(LimitName::Cpus), "no control group: no systemd of this user is running");
        assert_eq!(why(LimitName::Pids), "no control group can be written here");
    }

    #[test]
    fn root_is_exempt_from_the_per_user_limit() {
        let report = report(&spec(namespaces(NetworkWall::Isolated)), &facts(0, ReadBack::default(), 7));
        assert!(!report.holds(Claim::PidsLimit));
    }

    #[test]
    fn the_hosts_network_is_no_isolation() {
        let report = report(&spec(namespaces(NetworkWall::Host)), &facts(0, ALL_LIMITS, 7));
        assert!(!report.holds(Claim::NoNetwork) && !report.holds(Claim::NoSocketsOutsideMounts));
    }

    #[test]
    fn a_subreaper_claims_what_the_kernels_landlock_can() {
        let claims =
            |abi| report(&spec(Walls::Subreaper { scratch: Vec::new() }), &facts(1000, ALL_LIMITS, abi));
        let (none, old, new) = (claims(0), claims(3), claims(6));
        assert!(!none.holds(Claim::ReadOnlySystem) && old.holds(Claim::ReadOnlySystem));
        assert!(!old.holds(Claim::NoTcp) && new.holds(Claim::NoTcp));
        assert!(!old.holds(Claim::ProtectsSupervisor) && new.holds(Claim::ProtectsSupervisor));
        assert!(!new.holds(Claim::HidesFiles) && !new.holds(Claim::NoNetwork));
        assert!(!new.holds(Claim::OwnUserNamespace));
        assert!(none.degraded.len() > old.degraded.len() && old.degraded.len() > new.degraded.len());
    }
}
