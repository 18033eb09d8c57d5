//! What held, by the engine's word: nothing of ours is inside that could read it back. Pure.

use std::collections::BTreeSet;

use bollard::models::HostConfig;
use exec_cell::not_held;
use exec_core::{Capabilities, Claim, Exception, Held, Isolation, IsolationLevel, LimitReport};
use exec_wire::ReadBack;

use super::body::own_pids;
use crate::isolation::{WALLS, opened_by};
use crate::profile::EngineProfile;
use crate::spec::ContainerSpec;

/// Claims that hold for a run only if it has the limit.
const LIMITS: [Claim; 3] = [Claim::MemoryLimit, Claim::PidsLimit, Claim::CpuLimit];

const EXCEPTIONS: [Exception; 7] = [
    Exception::Utf8Only,
    Exception::SignalsAsCodes,
    Exception::NoUsage,
    Exception::StreamsApart,
    Exception::ScriptsByGuess,
    Exception::DeadlinesOutside,
    Exception::MountsByName,
];

/// Who says that limits are in force.
const ENGINES_WORD: &str = "the engine, by its own word";

/// What can be said before the first container; `reaper` says whether somebody removes containers when we are killed.
/// PID 1 has the command's user id and no protection, and the engine's own filter lets system calls pass that ours would
/// refuse: neither is claimed.
pub(crate) fn capabilities(profile: &EngineProfile, reaper: bool) -> Capabilities {
    let mut claims = BTreeSet::from(WALLS);
    claims.insert(Claim::NoPrivileges);
    claims.extend(reaper.then_some(Claim::DiesWithOwner));
    claims.extend(profile.limits.iter().copied());
    let mut exceptions = BTreeSet::from(EXCEPTIONS);
    exceptions.extend((!profile.knows_init).then_some(Exception::SignalsToOne));
    let level = IsolationLevel::Container;
    Capabilities { level, claims, tty: false, sessions: false, images: true, engine: None, exceptions }
}

/// The report for a run in a container that the engine gave these settings.
pub(super) fn report(
    capabilities: &Capabilities,
    spec: &ContainerSpec,
    found: &HostConfig,
    profile: &EngineProfile,
) -> Isolation {
    let set = limits(found, own_pids(profile));
    let reports = spec.limits.reports_by(ENGINES_WORD, &set, |_| Held::NotEnforced {
        why: "the engine was asked for it and did not set it".into(),
    });
    let (uid, gid) = profile.on_host(spec.user);
    Isolation {
        level: capabilities.level,
        claims: claims(capabilities, spec, found, &set),
        uid,
        gid,
        landlock_abi: 0,
        image: Some(spec.image_name.clone()),
        degraded: degraded(capabilities, &reports, profile),
        limits: reports,
    }
}

fn limits(found: &HostConfig, own_pids: i64) -> ReadBack {
    let positive = |value: Option<i64>| value.and_then(|value| u64::try_from(value).ok()).filter(|v| *v > 0);
    ReadBack {
        cgroup: None,
        memory: positive(found.memory),
        pids: positive(found.pids_limit.map(|pids| pids - own_pids)),
        cpu_milli: positive(found.nano_cpus).map(|nano| nano / 1_000_000),
    }
}

fn claims(
    capabilities: &Capabilities,
    spec: &ContainerSpec,
    found: &HostConfig,
    set: &ReadBack,
) -> BTreeSet<Claim> {
    let no_new_privileges =
        found.security_opt.iter().flatten().any(|option| option.starts_with("no-new-privileges"));
    let no_capabilities = found.cap_drop.iter().flatten().any(|name| name.eq_ignore_ascii_case("all"));
    let denied = [
        (found.readonly_rootfs != Some(true), Claim::ReadOnlySystem),
        (!(no_new_privileges && no_capabilities), Claim::NoPrivileges),
    ];
    let denied = denied.into_iter().filter(|(denied, _)| *denied).map(|(_, claim)| claim);
    let without: BTreeSet<Claim> =
        denied.chain(LIMITS).chain(opened_by(spec.network).iter().copied()).collect();
    let mut claims: BTreeSet<Claim> = capabilities.claims.difference(&without).copied().collect();
    let limits = LIMITS.into_iter().zip([set.memory, set.pids, set.cpu_milli]);
    claims.extend(limits.filter(|(_, value)| value.is_some()).map(|(claim, _)| claim));
    claims
}

fn degraded(capabilities: &Capabilities, limits: &[LimitReport], profile: &EngineProfile) -> Vec<String> {
    let filter = if profile.filters_syscalls {
        "only the engine's own filter of system calls is on"
    } else {
        "the engine filters no system calls"
    };
    let word = "one container for each command, without our supervisor: what held is the engine's word";
    let mut degraded = vec![word.to_owned(), filter.to_owned()];
    degraded.extend(capabilities.exceptions.iter().map(ToString::to_string));
    degraded.extend(limits.iter().filter_map(not_held));
    degraded
}

#[cfg(test)]
mod tests {
    use exec_core::{Cmd, ExecOpts, Network, OwnPlaces, Plan};

    use super::*;
    use crate::body::host_config;
    use crate::body::tests::{profile, view};
    use crate::engine::ImageFacts;
    use crate::spec::{Base, spec};

    fn made(opts: &ExecOpts, change: impl FnOnce(&mut HostConfig)) -> (Capabilities, Isolation) {
        let plan = Plan::resolve(&Cmd::new("x"), opts, [], &OwnPlaces::default()).unwrap();
        let (image, profile) = (ImageFacts::default(), profile());
        let spec = spec(&plan, Base::Host { image: &image, view: &view() }, &profile).unwrap();
        let mut found = host_config(&spec, own_pids(&profile), &profile);
        change(&mut found);
        let capabilities = capabilities(&profile, true);
        let report = report(&capabilities, &spec, &found, &profile);
        (capabilities, report)
    }

    fn opts() -> ExecOpts {
        ExecOpts::in_workspace(std::env::temp_dir())
    }

    /// R3, R41
    #[test]
    fn what_the_engine_set_is_what_held() {
        let (promised, held) = made(&opts(), |_| ());
        assert_eq!(promised.claims, held.claims);
        assert!(
            held.limits
                .iter()
                .all(|report| matches!(&report.held, Held::Enforced { by } if by == ENGINES_WORD))
        );
        assert_eq!(held.limits.len(), 3);
    }

    /// R41: engines discard what their kernel can't do, and go on.
    #[test]
    fn what_the_engine_discarded_did_not_hold() {
        let (_, held) = made(&opts(), |found| {
            (found.memory, found.pids_limit, found.cap_drop) = (Some(0), None, None);
        });
        for claim in [Claim::MemoryLimit, Claim::PidsLimit, Claim::NoPrivileges] {
            assert!(!held.holds(claim), "{claim:?}");
        }
        assert!(held.holds(Claim::CpuLimit));
        assert_eq!(held.degraded.iter().filter(|line| line.contains("did not set it")).count(), 2);
    }

    #[test]
    fn a_network_is_no_wall() {
        let (_, held) = made(&opts().with_network(Network::Bridge), |_| ());
        assert!(!held.holds(Claim::NoNetwork) && held.holds(Claim::NoSocketsOutsideMounts));
    }

    /// R11: without the helper nobody cleans up after us.
    #[test]
    fn claims_and_exceptions_depend_on_what_is_there() {
        let mut profile = profile();
        profile.knows_init = false;
        profile.limits.clear();
        let capabilities = capabilities(&profile, false);
        assert!(!capabilities.claims(Claim::DiesWithOwner) && !capabilities.claims(Claim::MemoryLimit));
        assert!(!capabilities.keeps(Exception::SignalsToOne));
    }
}
