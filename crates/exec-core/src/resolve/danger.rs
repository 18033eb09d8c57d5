//! Places of the host that must not be mounted by accident.

use std::path::Path;

use super::{PlannedMount, invalid, os};
use crate::{Access, DangerousMounts, Remedy, Result};

/// Mounting one of these, or a directory above it, gives the host away.
const WHOLE: [&str; 10] = [
    "/",
    "/etc",
    "/home",
    "/root",
    "/run",
    "/var/run",
    "/boot",
    "/var/lib/docker",
    "/var/lib/containers",
    "/var/lib",
];

/// Places that projects share with the host's own programs: a directory below is fine, the place itself is not.
const SHARED_WITH_PROGRAMS: [&str; 4] = ["/opt", "/usr", "/usr/local", "/usr/src"];

/// Places that hold only the host's own programs, libraries and their data.
const PROGRAMS: [&str; 23] = [
    "/bin",
    "/gnu",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix",
    "/sbin",
    "/snap",
    "/usr/bin",
    "/usr/games",
    "/usr/include",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libexec",
    "/usr/libx32",
    "/usr/local/bin",
    "/usr/local/lib",
    "/usr/local/libexec",
    "/usr/local/sbin",
    "/usr/sbin",
    "/usr/share",
];

/// Mounting any part of these gives access to the kernel.
const ANY_PART: [&str; 3] = ["/proc", "/sys", "/dev"];

/// Refuses a canonical path that would give the host away.
pub(super) fn check(path: &Path, policy: DangerousMounts, what: &str) -> Result<()> {
    match reason(path, exec_files::UserDirs::here().home.as_deref()) {
        Some(reason) if policy != DangerousMounts::Accept => {
            Err(invalid(format!("the {what} `{}` is refused: {reason}", path.display()))
                .with_remedy(Remedy::from("name a directory below it").or(Remedy::dangerous_mounts())))
        }
        _ => Ok(()),
    }
}

/// Refuses mounts, including the workspace, through which a command could change programs that the host runs.
pub(super) fn check_writable(mounts: &[&PlannedMount], policy: DangerousMounts) -> Result<()> {
    let is_refused = |mount: &&&PlannedMount| {
        policy != DangerousMounts::Accept
            && mount.access == Access::ReadWrite
            && holds_programs(&mount.source)
    };
    match mounts.iter().find(is_refused) {
        None => Ok(()),
        Some(mount) => {
            let place = mount.source.display();
            Err(invalid(format!("`{place}` is refused as writable: the host runs the programs in it"))
                .with_remedy(Remedy::from("give it read-only").or(Remedy::dangerous_mounts())))
        }
    }
}

/// Whether a place is among the host's own programs, so that no command is given it for writing.
pub(crate) fn holds_programs(path: &Path) -> bool {
    SHARED_WITH_PROGRAMS.iter().any(|place| Path::new(place) == path)
        || PROGRAMS.iter().any(|place| path.starts_with(place))
}

fn reason(path: &Path, home: Option<&Path>) -> Option<&'static str> {
    if home.is_some_and(|home| home.starts_with(path)) {
        return Some("it holds your home directory with its keys and tokens");
    }
    if WHOLE.iter().any(|place| Path::new(place).starts_with(path)) {
        return Some("it holds the host's own files");
    }
    if ANY_PART.iter().any(|place| path.starts_with(place)) {
        return Some("it is the kernel's interface, not files");
    }
    os::is_socket(path).then_some("it is a socket: whoever listens there acts outside the sandbox")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R22
    #[test]
    fn the_host_is_not_given_away_by_accident() {
        let home = Some(Path::new("/home/ada"));
        for path in
            ["/", "/etc", "/home", "/home/ada", "/proc/1", "/sys", "/dev/shm", "/root", "/run", "/var"]
        {
            assert!(reason(Path::new(path), home).is_some(), "{path}");
        }
        for path in ["/home/ada/project", "/srv", "/tmp/x", "/etc/ssl", "/opt", "/home/adam"] {
            assert!(reason(Path::new(path), home).is_none(), "{path}");
        }
    }

    /// A2, R22: a project may lie beside the host's programs, never among them.
    #[test]
    fn the_hosts_programs_are_not_written() {
        for path in ["/usr", "/usr/local", "/usr/lib/python3", "/usr/bin", "/bin", "/opt", "/nix/store"] {
            assert!(holds_programs(Path::new(path)), "{path}");
        }
        for path in ["/usr/src/app", "/opt/project", "/usr/local/project", "/srv", "/home/ada/usr"] {
            assert!(!holds_programs(Path::new(path)), "{path}");
        }
    }
}
