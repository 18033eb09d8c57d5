//! What this process knows of itself and its machine, next to what an engine says.

/// Limits of every process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ulimits {
    /// Open files.
    pub open_files: u64,
    /// Processes of one user, where that is limited.
    pub processes: u64,
}

/// What this process knows of itself and its machine.
#[derive(Debug, Clone, Default)]
pub(crate) struct Own {
    /// The kernel it runs on, where that is Linux: engines run on nothing else.
    pub(crate) kernel: Option<String>,
    /// Its user and group.
    pub(crate) caller: (u32, u32),
    /// The most it may have itself.
    pub(crate) ulimits: Option<Ulimits>,
    /// The resources that its user may limit without being root, by the kernel's names.
    pub(crate) delegated: Vec<String>,
}

impl Own {
    /// This process.
    #[cfg(unix)]
    pub(crate) fn look() -> Self {
        use rustix::process::{Resource, getrlimit};
        let most = |resource| getrlimit(resource).maximum.unwrap_or(u64::MAX);
        // More than these nobody can have, whatever their limit says; asking for more is an error.
        let number = |path: &str| std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
        let (files, processes) = (number("/proc/sys/fs/nr_open"), number("/proc/sys/kernel/pid_max"));
        let ulimits = files.zip(processes).map(|(files, processes)| Ulimits {
            open_files: most(Resource::Nofile).min(files),
            processes: most(Resource::Nproc).min(processes),
        });
        let user = rustix::process::geteuid().as_raw();
        let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").ok();
        Self {
            kernel: kernel.map(|release| release.trim().to_owned()),
            caller: (user, rustix::process::getegid().as_raw()),
            ulimits,
            delegated: delegated(user),
        }
    }

    /// Where there are neither such users nor engines of its own.
    #[cfg(not(unix))]
    pub(crate) fn look() -> Self {
        Self::default()
    }
}

/// What systemd has handed over to a user's own services; nothing where control groups are of the old kind.
#[cfg(unix)]
fn delegated(user: u32) -> Vec<String> {
    let group = format!("/sys/fs/cgroup/user.slice/user-{user}.slice/user@{user}.service/cgroup.controllers");
    let controllers = std::fs::read_to_string(group).unwrap_or_default();
    controllers.split_whitespace().map(str::to_owned).collect()
}
