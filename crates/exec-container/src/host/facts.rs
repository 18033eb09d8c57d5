//! Facts about this process and its machine, which complement an engine's report.

use bollard::models::SystemInfo;

/// Limits of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ulimits {
    /// Open files.
    pub open_files: u64,
    /// Processes of one user, if the system limits them.
    pub processes: u64,
}

/// Facts about this process and its machine.
#[derive(Debug, Clone, Default)]
pub(crate) struct HostFacts {
    /// The kernel release, if this is Linux: engines run on nothing else.
    pub(crate) kernel: Option<String>,
    /// Its user and group.
    pub(crate) caller: (u32, u32),
    /// The highest limits of this process.
    pub(crate) ulimits: Option<Ulimits>,
    /// The resources that its user may limit without being root, by the kernel's names.
    pub(crate) delegated: Vec<String>,
    /// The resources that root may limit, by the kernel's names.
    pub(crate) controllers: Vec<String>,
    /// Whether `SELinux` is on.
    pub(crate) selinux: bool,
}

impl HostFacts {
    /// The report of an engine of this version that we started here. Podman itself asks the system's package manager
    /// about each of its helpers for every report, which takes longer than creating a container.
    pub(crate) fn says_for(&self, version: Option<&str>) -> SystemInfo {
        let can_limit = |name: &str| Some(self.controllers.iter().any(|controller| controller == name));
        let selinux = self.selinux.then(|| "name=selinux".to_owned());
        SystemInfo {
            kernel_version: self.kernel.clone(),
            server_version: version.map(str::to_owned),
            architecture: Some(std::env::consts::ARCH.to_owned()),
            memory_limit: can_limit("memory"),
            pids_limit: can_limit("pids"),
            cpu_cfs_quota: can_limit("cpu"),
            // Every kernel that our PID 1 runs on has seccomp.
            security_options: Some(selinux.into_iter().chain(["name=seccomp".to_owned()]).collect()),
            ..SystemInfo::default()
        }
    }

    /// Inspects this process.
    #[cfg(unix)]
    pub(crate) fn look() -> Self {
        use rustix::process::{Resource, getrlimit};
        let most = |resource| getrlimit(resource).maximum.unwrap_or(u64::MAX);
        // The kernel's own maximum, whatever the limit says; requesting more is an error.
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
            controllers: controllers(),
            selinux: std::path::Path::new("/sys/fs/selinux/enforce").exists(),
        }
    }

    /// Systems without Unix users or engines of their own.
    #[cfg(not(unix))]
    pub(crate) fn look() -> Self {
        Self::default()
    }
}

/// The controllers that systemd delegated to this user's services; none on control groups v1.
#[cfg(unix)]
fn delegated(user: u32) -> Vec<String> {
    let group = format!("/sys/fs/cgroup/user.slice/user-{user}.slice/user@{user}.service/cgroup.controllers");
    std::fs::read_to_string(group).map_or_else(|_| Vec::new(), |names| words(&names))
}

/// The controllers of the kernel's control groups: v2 lists them in a file, v1 has a directory for each.
#[cfg(unix)]
fn controllers() -> Vec<String> {
    let groups = std::path::Path::new("/sys/fs/cgroup");
    if let Ok(names) = std::fs::read_to_string(groups.join("cgroup.controllers")) {
        return words(&names);
    }
    let entries = std::fs::read_dir(groups).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[cfg(unix)]
fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}
