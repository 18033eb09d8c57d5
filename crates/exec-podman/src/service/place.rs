//! The sockets of our services, in a directory that other users can't enter.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use exec_core::{Error, ErrorKind, Remedy, Result};
use exec_files::{Dir, FileKind, Sharing};

use crate::{HostEnvironment, NAME};

/// The most entries read from the directory.
const MOST: usize = 1 << 16;

/// The prefix of a socket's name; its owner's PID follows.
const PREFIX: &str = "podman-";

/// A path for a new socket. The service that listens there removes it when it ends.
pub(crate) fn socket(around: &dyn HostEnvironment) -> Result<PathBuf> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let directory = around.user_dirs().sockets;
    let sockets = Dir::make_own(&directory, Sharing::Closed).map_err(|error| {
        Error::new(
            ErrorKind::Io,
            "start engine",
            format!("the directory `{}` for a Podman service of our own can't be used", directory.display()),
        )
        .with_backend(NAME)
        .with_source(error)
        .with_remedy(Remedy::host(
            "remove it if it is not yours, or set XDG_RUNTIME_DIR to a directory of yours",
        ))
    })?;
    let is_alive = |process: &str| around.exists(&Path::new("/proc").join(process));
    for dead in dead_sockets(&sockets, &directory, is_alive) {
        match sockets.remove_file(&dead) {
            Ok(()) => tracing::debug!(socket = dead, "removed a dead socket"),
            Err(error) => tracing::debug!(%error, "removing a dead socket"),
        }
    }
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    Ok(directory.join(format!("{PREFIX}{}-{number}.sock", std::process::id())))
}

/// Whether this may be a socket of ours.
pub(super) fn is_ours(around: &dyn HostEnvironment, socket: &Path) -> bool {
    let name = socket.file_name().and_then(|name| name.to_str());
    socket.parent() == Some(&around.user_dirs().sockets) && name.is_some_and(|name| name.starts_with(PREFIX))
}

/// Sockets of killed services, which could not remove them. The owner is dead, or had our PID before us. A service
/// may outlive its owner for a while, so the socket must also refuse connections.
fn dead_sockets(sockets: &Dir, directory: &Path, is_alive: impl Fn(&str) -> bool) -> Vec<String> {
    let own = std::process::id().to_string();
    let entries = sockets.entries(MOST).unwrap_or_default();
    let special = entries.into_iter().filter(|entry| entry.kind == FileKind::Special);
    let is_dead = |name: &String| {
        let owner = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next());
        let is_gone = owner.is_some_and(|owner| !is_alive(owner) || owner == own);
        is_gone && nobody_listens(&directory.join(name))
    };
    special.filter_map(|entry| entry.name.into_string().ok()).filter(is_dead).collect()
}

#[cfg(unix)]
fn nobody_listens(socket: &Path) -> bool {
    let connected = std::os::unix::net::UnixStream::connect(socket);
    connected.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

#[cfg(not(unix))]
fn nobody_listens(_: &Path) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use std::collections::BTreeSet;
    use std::os::unix::net::UnixListener;

    use exec_container::surroundings::sample::Sample;

    use super::*;

    /// R15
    #[test]
    fn what_the_dead_left_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("place");
        let sockets = Dir::make_own(&place, Sharing::Closed).unwrap();
        let own = format!("podman-{}-0.sock", std::process::id());
        let names = ["podman-1-0.sock", "podman-2-7.sock", "other.sock", &own];
        let listeners = names.map(|name| UnixListener::bind(place.join(name)).unwrap());
        let found = || {
            let dead = dead_sockets(&sockets, &place, |process| process != "2");
            dead.into_iter().collect::<BTreeSet<_>>()
        };
        assert!(found().is_empty(), "a service may outlive its owner");
        drop(listeners);
        assert_eq!(found(), BTreeSet::from(["podman-2-7.sock".into(), own]));
    }

    #[test]
    fn a_socket_of_ours_is_known_by_its_place() {
        let root = Sample { user_id: 0, ..Sample::default() }.file("/run/lock", "");
        assert!(is_ours(&root, Path::new("/run/agentctl/podman-4711-0.sock")));
        for other in ["/run/podman/podman.sock", "/run/agentctl/other.sock", "/tmp/podman-4711-0.sock"] {
            assert!(!is_ours(&root, Path::new(other)), "{other}");
        }
    }
}
