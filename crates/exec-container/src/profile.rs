//! What an engine is and how it differs from others, as data. Pure: from what it said about itself.

use bollard::models::SystemInfo;
use exec_core::{Plan, Result, User};
use exec_init::Arch;

use crate::{Greeting, Product};

/// From this version of the interface on, a read-only mount is read-only with everything mounted below it.
const RECURSIVE_READ_ONLY: (usize, usize) = (1, 44);

/// An engine's properties that change what we ask of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent properties of an engine")]
pub(crate) struct EngineProfile {
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
    /// Its init program is the one whose options and words we know.
    pub(crate) knows_init: bool,
    /// Read-only mounts hide what is mounted below them, because the engine would leave that writable.
    pub(crate) hides_submounts: bool,
    /// Who we are.
    pub(crate) caller: (u32, u32),
}

impl EngineProfile {
    /// From what an engine says, and what we know of ourselves.
    pub(crate) fn new(
        greeting: &Greeting,
        info: &SystemInfo,
        kernel: Option<&str>,
        caller: (u32, u32),
    ) -> Self {
        let options = info.security_options.as_deref().unwrap_or_default();
        let has = |name: &str| options.iter().any(|option| option.split(',').any(|part| part == name));
        Self {
            version: info.server_version.clone().unwrap_or_default(),
            api: greeting.api,
            architecture: info.architecture.clone().unwrap_or_default(),
            rootless: has("name=rootless"),
            remaps_users: has("name=userns"),
            same_kernel: kernel.is_some() && info.kernel_version.as_deref() == kernel,
            filters_syscalls: has("name=seccomp"),
            knows_init: greeting.product == Product::Docker
                && info.init_binary.as_deref() == Some("docker-init"),
            hides_submounts: greeting.api < RECURSIVE_READ_ONLY,
            caller,
        }
    }

    /// The architecture, if it is one there can be a PID 1 for.
    pub(crate) fn arch(&self) -> Option<Arch> {
        Arch::from_name(&self.architecture)
    }

    /// The user a command runs as, as the container counts. On a rootless engine the caller is user 0 inside: that is
    /// the only one who can write the caller's files.
    pub(crate) fn identity(&self, plan: &Plan) -> Result<(u32, u32)> {
        match plan.user {
            User::Auto if self.rootless && plan.workspace_owner.0 == self.caller.0 => Ok((0, 0)),
            _ => plan.identity(),
        }
    }

    /// The same user, as the host counts.
    pub(crate) fn on_host(&self, inside: (u32, u32)) -> (u32, u32) {
        if self.rootless && inside.0 == 0 { self.caller } else { inside }
    }
}

/// The kernel this process runs on, where that is Linux: engines run on nothing else.
pub(crate) fn own_kernel() -> Option<String> {
    std::fs::read_to_string("/proc/sys/kernel/osrelease").ok().map(|release| release.trim().to_owned())
}

#[cfg(unix)]
pub(crate) fn caller() -> (u32, u32) {
    (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw())
}

#[cfg(not(unix))]
pub(crate) fn caller() -> (u32, u32) {
    (0, 0)
}

#[cfg(test)]
mod tests {
    use exec_core::{Cmd, ExecOpts};

    use super::*;

    fn profile(options: &[&str], kernel: Option<&str>, api: (usize, usize)) -> EngineProfile {
        let info = SystemInfo {
            security_options: Some(options.iter().map(|option| (*option).to_owned()).collect()),
            kernel_version: Some("6.1".into()),
            architecture: Some("x86_64".into()),
            ..SystemInfo::default()
        };
        EngineProfile::new(&Greeting { api, product: Product::Docker }, &info, kernel, (1000, 1000))
    }

    #[test]
    fn properties_are_what_the_engine_says() {
        let plain = profile(&["name=seccomp,profile=default"], Some("6.1"), (1, 41));
        assert!(plain.filters_syscalls && plain.same_kernel && plain.hides_submounts);
        assert!(!plain.rootless && !plain.remaps_users);
        let desktop = profile(&["name=seccomp,profile=default", "name=userns"], Some("24.1.0"), (1, 47));
        assert!(desktop.remaps_users && !desktop.same_kernel && !desktop.hides_submounts);
        assert_eq!(plain.arch(), Some(Arch::X86_64));
    }

    /// R24
    #[test]
    fn a_rootless_engine_runs_the_caller_as_user_0() {
        let rootless = profile(&["name=rootless"], Some("6.1"), (1, 41));
        let mut plan =
            Plan::resolve(&Cmd::new("x"), &ExecOpts::in_workspace(std::env::temp_dir()), []).unwrap();
        plan.workspace_owner = (1000, 1000);
        assert_eq!(rootless.identity(&plan).unwrap(), (0, 0));
        assert_eq!(rootless.on_host((0, 0)), (1000, 1000));
        assert_eq!(profile(&[], None, (1, 41)).identity(&plan).unwrap(), (1000, 1000));
    }
}
