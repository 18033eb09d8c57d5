//! An engine's properties and how they differ from others', as data. Pure: derived from what the engine reports.

use std::collections::BTreeSet;
use std::path::PathBuf;

use bollard::models::SystemInfo;
use exec_core::{Claim, Plan, Result, User};

use crate::engine::dialect::Dialect;
use crate::host::facts::{HostFacts, Ulimits};
use crate::{Greeting, Product};

/// From this API version on, everything mounted below a read-only mount is read-only too.
const RECURSIVE_READ_ONLY: (usize, usize) = (1, 44);

/// The user namespace mode in which the caller keeps their id.
pub(crate) const KEEP_ID: &str = "keep-id";

/// The properties of an engine that affect our requests.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent properties of an engine")]
pub(crate) struct EngineProfile {
    /// Its product.
    pub(crate) product: Product,
    /// Its version, for display.
    pub(crate) version: String,
    /// The version of its API.
    pub(crate) api: (usize, usize),
    /// The architecture of its containers, as the engine names it.
    pub(crate) architecture: String,
    /// It runs as an ordinary user: user 0 inside is that user outside.
    pub(crate) rootless: bool,
    /// User ids inside differ from those outside, unless a container asks for the host's.
    pub(crate) remaps_users: bool,
    /// It runs on our kernel, so a file has the same identity inside and outside.
    pub(crate) same_kernel: bool,
    /// System calls are filtered by default.
    pub(crate) filters_syscalls: bool,
    /// The file with the system call filter to request, if the engine's own is not stricter and takes longer.
    pub(crate) syscall_filter: Option<String>,
    /// Read-only mounts hide what is mounted below them, because the engine would leave that writable.
    pub(crate) hides_submounts: bool,
    /// The limits it can enforce.
    pub(crate) limits: BTreeSet<Claim>,
    /// `SELinux` confines its containers to files that are labelled for them.
    pub(crate) guards_labels: bool,
    /// The highest limits of containers, if the engine would otherwise request more than it is allowed.
    pub(crate) ulimits: Option<Ulimits>,
    /// The directory of this host in which container monitors create files by name, if any.
    pub(crate) monitors_in: Option<PathBuf>,
    /// Our user and group id.
    pub(crate) caller: (u32, u32),
    /// How its requests are written.
    pub(crate) dialect: Dialect,
}

impl EngineProfile {
    /// Combines the engine's report with what we know about this host.
    pub(crate) fn new(greeting: &Greeting, info: &SystemInfo, host: &HostFacts) -> Self {
        let dialect = Dialect::of(greeting.product);
        let same_kernel = host.kernel.is_some() && info.kernel_version == host.kernel;
        let is_somebodys = greeting.user.is_some_and(|user| user != 0);
        let options = info.security_options.as_deref().unwrap_or_default();
        let has = |name: &str| options.iter().any(|option| option.split(',').any(|part| part == name));
        // Older engines don't report it; the kernel reports the user of the listening process.
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
            // The limits of a remote engine are unknown.
            ulimits: host.ulimits.filter(|_| dialect.raises_ulimits && same_kernel),
            monitors_in: greeting
                .directory
                .clone()
                .filter(|_| dialect.monitors_where_it_works && same_kernel),
            caller: host.caller,
            dialect,
        }
    }

    /// The user a command runs as, in the container's ids. With a rootless engine only the caller can write the
    /// caller's files: under their own id if the engine keeps ids, else as user 0. The group is theirs too, whatever
    /// the workspace's group: no other is available.
    pub(crate) fn identity(&self, plan: &Plan) -> Result<(u32, u32)> {
        match plan.user {
            User::Auto if self.rootless && plan.workspace_owner.0 == self.caller.0 => {
                Ok(if self.dialect.keeps_ids { self.caller } else { (0, 0) })
            }
            _ => plan.identity(),
        }
    }

    /// The same user in the host's ids.
    pub(crate) fn on_host(&self, inside: (u32, u32)) -> (u32, u32) {
        if self.rootless && inside.0 == 0 { self.caller } else { inside }
    }

    /// The user namespace for a container of this user, if the engine's default does not fit: new files must belong
    /// to the caller. User 0 of a rootless engine already is the caller.
    pub(crate) fn user_namespace(&self, user: (u32, u32)) -> Option<&'static str> {
        match user.0 {
            _ if self.remaps_users => Some("host"),
            1.. if self.rootless && self.dialect.keeps_ids => Some(KEEP_ID),
            _ => None,
        }
    }
}

/// The limits an engine reports as supported; if it overstates them, those that its user may set.
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

    /// Podman 4.3, with a service of this user.
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
    /// R24: Podman keeps the caller's id, so nothing inside is user 0.
    #[test]
    fn rootless_podman_keeps_ids() {
        let mut plan = Plan::resolve(
            &Cmd::new("x"),
            &ExecOpts::in_workspace(std::env::temp_dir()),
            [],
            &OwnPlaces::default(),
        )
        .unwrap();
        // A directory of the caller with another group.
        plan.workspace_owner = (1000, 50);
        let rootless = podman(1000, "6.1");
        assert_eq!(rootless.identity(&plan).unwrap(), (1000, 1000));
        assert_eq!(rootless.user_namespace((1000, 1000)), Some("keep-id"));
        assert_eq!(rootless.on_host((1000, 1000)), (1000, 1000));
        // A request for user 0 gets the engine's own mapping, in which user 0 is the caller.
        assert_eq!((rootless.user_namespace((0, 0)), rootless.on_host((0, 0))), (None, (1000, 1000)));
        assert_eq!(podman(0, "6.1").user_namespace((1000, 1000)), None);
    }

    /// R40: Podman's own default is more than some hosts allow.
    #[test]
    fn limits_are_those_of_this_machine() {
        assert_eq!(podman(0, "6.1").ulimits.map(|limits| limits.open_files), Some(20_000));
        assert_eq!(podman(0, "6.2").ulimits, None, "an engine elsewhere has others");
        assert_eq!(profile(&[], Some("6.1"), (1, 41)).ulimits, None, "Docker knows its own");
    }
    /// R41: limits that a rootless engine accepts but does not enforce are not claimed.
    #[test]
    fn limits_are_claimed_where_they_can_be_set() {
        let all = [Claim::MemoryLimit, Claim::PidsLimit, Claim::CpuLimit];
        assert_eq!(podman(0, "6.1").limits, all.into());
        assert_eq!(podman(1000, "6.1").limits, [Claim::MemoryLimit, Claim::PidsLimit].into());
    }

    /// The process that listens on a forwarded socket says nothing about the engine.
    #[test]
    fn a_forwarded_socket_is_nobodys() {
        assert!(podman(1000, "6.1").rootless);
        assert!(!podman(1000, "6.2").rootless);
    }
}
