//! The isolation report of every result, from the engine's properties and what the cell read back. Pure.

use std::collections::BTreeSet;

use exec_cell::not_held;
use exec_core::{Capabilities, Claim, Exception, Held, Isolation, IsolationLevel, Network};
use exec_wire::{Facts, Note, Subject};

use crate::engine::profile::EngineProfile;
use crate::spec::ContainerSpec;

/// Claims that hold in every container of ours.
const WALLS: [Claim; 10] = [
    Claim::KillsDescendants,
    Claim::DiesWithOwner,
    Claim::ProtectsSupervisor,
    Claim::NoSignalsOut,
    Claim::HidesProcesses,
    Claim::HidesFiles,
    Claim::ReadOnlySystem,
    Claim::PrivateTmp,
    Claim::NoSocketsOutsideMounts,
    Claim::NoNetwork,
];

/// The capabilities known before the first container.
pub(crate) fn capabilities(profile: &EngineProfile) -> Capabilities {
    let mut claims: BTreeSet<Claim> = WALLS.into();
    claims.extend([Claim::NoPrivileges, Claim::SyscallFilter]);
    claims.extend(profile.limits.iter().copied());
    claims.extend(of_user(profile));
    let mut exceptions = BTreeSet::new();
    if !profile.same_kernel {
        exceptions.insert(Exception::MountsByName);
    }
    let level = IsolationLevel::Container;
    Capabilities { level, claims, tty: true, sessions: true, images: true, engine: None, exceptions }
}

/// Without root, containers are only possible in a user namespace of their own.
fn of_user(profile: &EngineProfile) -> Option<Claim> {
    profile.rootless.then_some(Claim::OwnUserNamespace)
}

/// Claims that don't hold with this network.
fn opened_by(network: Network) -> &'static [Claim] {
    match network {
        Network::None => &[],
        Network::Host => &[Claim::NoNetwork, Claim::NoSocketsOutsideMounts],
        _ => &[Claim::NoNetwork],
    }
}

/// The report for a run in this container.
pub(crate) fn report(spec: &ContainerSpec, facts: &Facts, profile: &EngineProfile) -> Isolation {
    let mut claims: BTreeSet<Claim> = WALLS.into();
    claims.extend(of_user(profile));
    claims.retain(|claim| !opened_by(spec.network).contains(claim));
    let read_back = [
        (facts.no_new_privs && facts.capabilities == 0, Claim::NoPrivileges),
        (facts.seccomp, Claim::SyscallFilter),
        (facts.limits.memory.is_some(), Claim::MemoryLimit),
        (facts.limits.pids.is_some(), Claim::PidsLimit),
        (facts.limits.cpu_milli.is_some(), Claim::CpuLimit),
        (facts.inotify_instances.is_some(), Claim::WatchLimit),
    ];
    claims.extend(read_back.into_iter().filter(|(holds, _)| *holds).map(|(_, claim)| claim));
    let limits = spec.limits.reports(&facts.limits, |_| Held::NotEnforced {
        why: "the engine took it and the container does not have it".into(),
    });
    // The container's isolation holds without Landlock.
    let mut degraded: Vec<String> =
        facts.notes.iter().filter(|note| note.about != Subject::Landlock).map(Note::to_string).collect();
    degraded.extend(limits.iter().filter_map(not_held));
    if !profile.filters_syscalls {
        degraded.push("the engine filters no system calls; only our own filter is on".into());
    }
    if profile.guards_labels && !spec.lacks_hosts {
        degraded.push(
            "SELinux does not guard this container: this machine's own programs are not labelled for it"
                .into(),
        );
    }
    let (uid, gid) = profile.on_host((facts.uid, facts.gid));
    Isolation {
        level: IsolationLevel::Container,
        claims,
        uid,
        gid,
        landlock_abi: facts.landlock_abi,
        image: Some(spec.image_name.clone()),
        limits,
        degraded,
    }
}
