//! What an engine is and how it differs from others, as data. Pure: from what it said about itself.

use std::collections::BTreeSet;
use std::path::PathBuf;

use bollard::models::SystemInfo;
use exec_core::{Claim, Plan, Result, User};

use crate::engine::dialect::Dialect;
use crate::host::facts::{HostFacts, Ulimits};
use crate::{Greeting, Product};

/// From this version of the interface on, a read-only mount is read-only with everything mounted below it.
const RECURSIVE_READ_ONLY: (usize, usize) = (1, 44);

/// The user namespace in which the caller has their own id.
pub(crate) const KEEP_ID: &str = "keep-id";

/// An engine's properties that change what we ask of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent properties of an engine")]
pub(crate) struct EngineProfile {
    /// Whose it is.
    pub(crate) product: Product,
    /// Its version, for people.
    pub(crate) version: String,
    /// Version of its interface.
    pub(crate) api: (usize, usize),
    /// The architecture its containers run on, as it names it.
    pub(crate) architecture: String,
    /// It runs as an ordinary user: user 0 inside is that user outside.
    pub(crate) rootless: bool,
    /// User ids inside are others outside, unless a container asks for the host's.
    pub(crate) remaps_users: bool,
    /// It runs on the kernel we run on, so that a file has the same identity inside and outside.
    pub(crate) same_kernel: bool,
    /// System calls are filtered by default.
    pub(crate) filters_syscalls: bool,
    /// The file with the filter to ask for, where the engine's own choice would do no more and take longer.
    pub(crate) syscall_filter: Option<String>,
    /// Read-only mounts hide what is mounted below them, because the engine would leave that writable.
    pub(crate) hides_submounts: bool,
    /// The limits that it can hold.
    pub(crate) limits: BTreeSet<Claim>,
    /// `SELinux` guards its containers: they read and write only what is labelled for them.
    pub(crate) guards_labels: bool,
    /// What containers may be given at most, where the engine would else ask for more than it may have.
    pub(crate) ulimits: Option<Ulimits>,
    /// Where a container's monitor works, in which it creates files by name; none where that is the engine's host.
    pub(crate) monitors_in: Option<PathBuf>,
    /// Who we are.
    pub(crate) caller: (u32, u32),
    /// How it wants things said.
    pub(crate) dialect: Dialect,
}

impl EngineProfile {
    /// From what an engine says, and what we know of ourselves.
    pub(crate) fn new(greeting: &Greeting, info: &SystemInfo, host: &HostFacts) -> Self {
        let dialect = Dialect::of(greeting.product);
        let same_kernel = host.kernel.is_some() && info.kernel_version == host.kernel;
        let is_somebodys = greeting.user.is_some_and(|user| user != 0);
        let options = info.security_options.as_deref().unwrap_or_default();
        let has = |name: &str| options.iter().any(|option| option.split(',').any(|part| part == name));
        // Older ones don't say so; the kernel does, of whoever listens here.
        let rootless = has("name=rootless") || (dialect.hides_rootless && same_kernel && is_somebodys);
        Self {
            version: info.server_version.clone().unwrap_or_default(),
            api: greeting.api,
            architecture: info.architecture.clone().unwrap_or_default(),
            rootless,
            remaps_users: has("name=userns"),
            same_kernel,
            filters_syscalls: has("name=seccomp"),
            syscall_filter: None,
            product: greeting.product,
            hides_submounts: greeting.product == Product::Podman || greeting.api < RECURSIVE_READ_ONLY,
            limits: limits(info, host, rootless && dialect.overstates_limits),
            guards_labels: has("name=selinux"),
            // An engine elsewhere has limits that we know nothing of.
            ulimits: host.ulimits.filter(|_| dialect.raises_ulimits && same_kernel),
            monitors_in: greeting
                .directory
                .clone()
                .filter(|_| dialect.monitors_where_it_works && same_kernel),
            caller: host.caller,
            dialect,
        }
    }

    /// The user a command runs as, as the container counts. A rootless engine has nobody to offer who could write the
    /// caller's files but the caller: with their own id where the engine keeps ids, else as user 0. Their group too, whichever
    /// the workspace has: others are not to be had.
    pub(crate) fn identity(&self, plan: &Plan) -> Result<(u32, u32)> {
        match plan.user {
            User::Auto if self.rootless && plan.workspace_owner.0 == self.caller.0 => {
                Ok(if self.dialect.keeps_ids { self.caller } else { (0, 0) })
            }
            _ => plan.identity(),
        }
    }

    /// The same user, as the host counts.
    pub(crate) fn on_host(&self, inside: (u32, u32)) -> (u32, u32) {
        if self.rootless && inside.0 == 0 { self.caller } else { inside }
    }

    /// The user namespace for a container of this user's, where the engine's own choice would not do: files made inside
    /// are to belong to the caller. User 0 of a rootless engine is the caller as it is.
    pub(crate) fn user_namespace(&self, user: (u32, u32)) -> Option<&'static str> {
        match user.0 {
            _ if self.remaps_users => Some("host"),
            1.. if self.rootless && self.dialect.keeps_ids => Some(KEEP_ID),
            _ => None,
        }
    }
}

/// The limits an engine says it can hold; where it says too much, those of them that its user may set.
fn limits(info: &SystemInfo, host: &HostFacts, overstated: bool) -> BTreeSet<Claim> {
    let limits = [
        (info.memory_limit, "memory", Claim::MemoryLimit),
        (info.pids_limit, "pids", Claim::PidsLimit),
        (info.cpu_cfs_quota, "cpu", Claim::CpuLimit),
    ];
    let may_set = |controller: &str| !overstated || host.delegated.iter().any(|name| name == controller);
    let held = limits.into_iter().filter(|(can, name, _)| *can == Some(true) && may_set(name));
    held.map(|(.., claim)| claim).collect()
}

#[cfg(test)]
mod tests {
    use exec_core::{Cmd, ExecOpts, OwnPlaces};

    use super::*;

    fn profile(options: &[&str], kernel: Option<&str>, api: (usize, usize)) -> EngineProfile {
        let info = SystemInfo {
            security_options: Some(options.iter().map(|option| (*option).to_owned()).collect()),
            kernel_version: Some("6.1".into()),
            architecture: Some("x86_64".into()),
            ..SystemInfo::default()
        };
        EngineProfile::new(&greeting(api, Product::Docker, 0), &info, &host(kernel))
    }

    fn greeting(api: (usize, usize), product: Product, user: u32) -> Greeting {
        Greeting { api, product, version: None, user: Some(user), directory: None }
    }

    fn host(kernel: Option<&str>) -> HostFacts {
        let ulimits = Some(Ulimits { open_files: 20_000, processes: 32_768 });
        let delegated = vec!["memory".to_owned(), "pids".to_owned()];
        let kernel = kernel.map(str::to_owned);
        HostFacts { kernel, caller: (1000, 1000), ulimits, delegated, ..HostFacts::default() }
    }

    /// Podman 4.3, whose service this user runs.
    fn podman(user: u32, kernel: &str) -> EngineProfile {
        let info = SystemInfo {
            kernel_version: Some("6.1".into()),
            memory_limit: Some(true),
            pids_limit: Some(true),
            cpu_cfs_quota: Some(true),
            ..SystemInfo::default()
        };
        EngineProfile::new(&greeting((1, 41), Product::Podman, user), &info, &host(Some(kernel)))
    }

    #[test]
    fn properties_are_what_the_engine_says() {
        let plain = profile(&["name=seccomp,profile=default"], Some("6.1"), (1, 41));
        assert!(plain.filters_syscalls && plain.same_kernel && plain.hides_submounts);
        assert!(!plain.rootless && !plain.remaps_users);
        let desktop = profile(&["name=seccomp,profile=default", "name=userns"], Some("24.1.0"), (1, 47));
        assert!(desktop.remaps_users && !desktop.same_kernel && !desktop.hides_submounts);
        assert_eq!(plain.architecture, "x86_64");
    }

    /// R24
    #[test]
    fn a_rootless_engine_runs_the_caller_as_user_0() {
        let rootless = profile(&["name=rootless"], Some("6.1"), (1, 41));
        let mut plan = Plan::resolve(
            &Cmd::new("x"),
            &ExecOpts::in_workspace(std::env::temp_dir()),
            [],
            &OwnPlaces::default(),
        )
        .unwrap();
        plan.workspace_owner = (1000, 1000);
        assert_eq!(rootless.identity(&plan).unwrap(), (0, 0));
        assert_eq!(rootless.on_host((0, 0)), (1000, 1000));
        assert_eq!(profile(&[], None, (1, 41)).identity(&plan).unwrap(), (1000, 1000));
    }
    /// R24: Podman keeps the caller's own number, so that nothing inside is user 0.
    #[test]
    fn rootless_podman_keeps_ids() {
        let mut plan = Plan::resolve(
            &Cmd::new("x"),
            &ExecOpts::in_workspace(std::env::temp_dir()),
            [],
            &OwnPlaces::default(),
        )
        .unwrap();
        // A directory of the caller's in another group.
        plan.workspace_owner = (1000, 50);
        let rootless = podman(1000, "6.1");
        assert_eq!(rootless.identity(&plan).unwrap(), (1000, 1000));
        assert_eq!(rootless.user_namespace((1000, 1000)), Some("keep-id"));
        assert_eq!(rootless.on_host((1000, 1000)), (1000, 1000));
        // Who asks for user 0 gets the engine's own mapping, in which that is the caller.
        assert_eq!((rootless.user_namespace((0, 0)), rootless.on_host((0, 0))), (None, (1000, 1000)));
        assert_eq!(podman(0, "6.1").user_namespace((1000, 1000)), None);
    }

    /// R40: what Podman would ask for itself is more than some hosts allow.
    #[test]
    fn limits_are_those_of_this_machine() {
        assert_eq!(podman(0, "6.1").ulimits.map(|limits| limits.open_files), Some(20_000));
        assert_eq!(podman(0, "6.2").ulimits, None, "an engine elsewhere has others");
        assert_eq!(profile(&[], Some("6.1"), (1, 41)).ulimits, None, "Docker knows its own");
    }
    /// R41: what a rootless engine accepts and does not hold is not claimed.
    #[test]
    fn limits_are_claimed_where_they_can_be_set() {
        let all = [Claim::MemoryLimit, Claim::PidsLimit, Claim::CpuLimit];
        assert_eq!(podman(0, "6.1").limits, all.into());
        assert_eq!(podman(1000, "6.1").limits, [Claim::MemoryLimit, Claim::PidsLimit].into());
    }

    /// Who listens on a socket that leads elsewhere says nothing of the engine.
    #[test]
    fn a_forwarded_socket_is_nobodys() {
        assert!(podman(1000, "6.1").rootless);
        assert!(!podman(1000, "6.2").rootless);
    }
}
