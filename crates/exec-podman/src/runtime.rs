//! Chooses a runtime that can create containers on this host. Pure: derived from what the kernel reports.

use std::path::Path;

use exec_wire::procfs;

use crate::HostEnvironment;

/// The runtime that Podman prefers. It refuses hosts with both versions of control groups.
const CRUN: &str = "crun";

/// The runtime that works on such hosts.
const RUNC: &str = "runc";

/// Where Podman looks for it regardless of the search path, which is short for ordinary users.
const RUNC_PLACES: [&str; 4] = ["/usr/bin/runc", "/usr/sbin/runc", "/usr/local/bin/runc", "/sbin/runc"];

/// The versions of control groups that are mounted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cgroups {
    /// One version, v1 or v2.
    Plain,
    /// Both at once, as in systemd's hybrid mode, and often in nested containers.
    Hybrid,
}

impl Cgroups {
    pub(crate) fn look(around: &dyn HostEnvironment) -> Self {
        let mounts = around.read(Path::new("/proc/self/mountinfo")).unwrap_or_default();
        let has = |kind: &[u8]| procfs::mounts(mounts.as_bytes()).any(|mount| mount.file_system == kind);
        if has(b"cgroup") && has(b"cgroup2") { Self::Hybrid } else { Self::Plain }
    }

    /// Whether a runtime of this name can't create containers here.
    pub(crate) fn defeat(self, runtime: &str) -> bool {
        let name = Path::new(runtime).file_name();
        self == Self::Hybrid && name.is_some_and(|name| name == CRUN)
    }
}

/// The options beyond Podman's defaults that a service needs to create containers here.
pub(crate) fn options(around: &dyn HostEnvironment, cgroups: Cgroups) -> Vec<&'static str> {
    let mut options = Vec::new();
    if cgroups == Cgroups::Hybrid && has_runc(around) {
        options.extend(["--runtime", RUNC]);
    }
    // Otherwise it would ask systemd for control groups.
    if !around.exists(Path::new("/run/systemd/system")) {
        options.extend(["--cgroup-manager", "cgroupfs"]);
    }
    options
}

fn has_runc(around: &dyn HostEnvironment) -> bool {
    around.program(RUNC).is_some() || RUNC_PLACES.iter().any(|place| around.exists(Path::new(place)))
}

#[cfg(test)]
mod tests {
    use exec_container::surroundings::sample::Sample;

    use super::*;

    const OLD: &str = "25 23 0:21 / /sys/fs/cgroup/pids rw,nosuid shared:9 - cgroup cgroup rw,pids\n";
    const NEW: &str = "26 23 0:22 / /sys/fs/cgroup/unified rw,nosuid - cgroup2 cgroup2 rw\n";

    fn host(mounts: &str) -> Sample {
        Sample::default().file("/proc/self/mountinfo", mounts)
    }

    #[test]
    fn both_ways_at_once_are_hybrid() {
        for (mounts, expected) in [
            (OLD.to_owned(), Cgroups::Plain),
            (NEW.to_owned(), Cgroups::Plain),
            (format!("{OLD}{NEW}"), Cgroups::Hybrid),
            ("nonsense - \n - cgroup".to_owned(), Cgroups::Plain),
        ] {
            assert_eq!(Cgroups::look(&host(&mounts)), expected, "{mounts}");
        }
        assert!(Cgroups::Hybrid.defeat("crun") && Cgroups::Hybrid.defeat("/usr/bin/crun"));
        assert!(!Cgroups::Hybrid.defeat("runc") && !Cgroups::Plain.defeat("crun"));
    }

    /// R60: Podman's own choice stays wherever it can work.
    #[test]
    fn a_service_is_told_only_what_it_would_get_wrong() {
        let systemd = Sample::default().file("/run/systemd/system/x", "");
        assert_eq!(options(&systemd, Cgroups::Plain), [""; 0]);
        assert_eq!(options(&systemd, Cgroups::Hybrid), [""; 0], "there is nothing better to choose");
        let nested = Sample::default().file("/usr/sbin/runc", "");
        assert_eq!(options(&nested, Cgroups::Plain), ["--cgroup-manager", "cgroupfs"]);
        assert_eq!(options(&nested, Cgroups::Hybrid), ["--runtime", "runc", "--cgroup-manager", "cgroupfs"]);
    }
}
