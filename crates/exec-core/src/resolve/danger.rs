//! Places of the host that a command must not be given by accident.

use std::path::Path;

use super::{invalid, os};
use crate::{DangerousMounts, Result};

/// Giving one of these, or something above it, gives the host away.
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

/// Giving anything of these talks to the kernel.
const ANY_PART: [&str; 3] = ["/proc", "/sys", "/dev"];

/// Refuses a canonical path that would give the host away.
pub(super) fn check(path: &Path, policy: DangerousMounts, what: &str) -> Result<()> {
    if policy == DangerousMounts::Accept {
        return Ok(());
    }
    let home = std::env::var_os("HOME").map(std::path::PathBuf::from).filter(|home| home.is_absolute());
    match reason(path, home.as_deref()) {
        None => Ok(()),
        Some(reason) => Err(invalid(format!("the {what} `{}` is refused: {reason}", path.display()))
            .with_remedy("name a directory below it, or pass --allow-dangerous-mounts if you mean it")),
    }
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
}
