//! Where our services listen: in a directory that nobody else can enter.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use exec_container::surroundings;
use exec_core::{Error, ErrorKind, Result};

use crate::{NAME, Surroundings};

const DIRECTORY: &str = "agentctl";

/// What a socket's name begins with; its owner's number follows.
const PREFIX: &str = "podman-";

/// A path for a socket that nobody uses. The service that listens there takes it away when it ends.
pub(crate) fn socket(around: &dyn Surroundings) -> Result<PathBuf> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let directory = directory(around);
    own(&directory).map_err(|error| {
        Error::new(
            ErrorKind::Io,
            "start engine",
            format!("the directory `{}` for a Podman service of our own can't be used", directory.display()),
        )
        .with_backend(NAME)
        .with_source(error)
        .with_remedy("remove it if it is not yours, or set XDG_RUNTIME_DIR to a directory of yours")
    })?;
    for dead in dead_sockets(&directory, |process| around.exists(&Path::new("/proc").join(process))) {
        match std::fs::remove_file(&dead) {
            Ok(()) => tracing::debug!(socket = %dead.display(), "removed a dead socket"),
            Err(error) => tracing::debug!(%error, "removing a dead socket"),
        }
    }
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    Ok(directory.join(format!("{PREFIX}{}-{number}.sock", std::process::id())))
}

/// Whether a socket of ours could be here.
pub(super) fn is_ours(around: &dyn Surroundings, socket: &Path) -> bool {
    let name = socket.file_name().and_then(|name| name.to_str());
    socket.parent() == Some(&directory(around)) && name.is_some_and(|name| name.starts_with(PREFIX))
}

/// Sockets of services that were killed, so that nobody took them away. Their owners are dead, or had our own number before
/// us; a service may outlive its owner for a while, so nobody may listen there either.
fn dead_sockets(directory: &Path, is_alive: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let own = std::process::id().to_string();
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let is_dead = |path: &PathBuf| {
        let owner = path.file_name().and_then(|name| name.to_str()?.strip_prefix(PREFIX)?.split('-').next());
        owner.is_some_and(|owner| !is_alive(owner) || owner == own) && nobody_listens(path)
    };
    entries.map(|entry| entry.path()).filter(is_dead).collect()
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

fn directory(around: &dyn Surroundings) -> PathBuf {
    let runtime = match around.user_id() {
        Some(0) => Some(PathBuf::from("/run")),
        _ => surroundings::runtime_directory(around).filter(|path| around.exists(path)),
    };
    match (runtime, around.user_id()) {
        (Some(runtime), _) => runtime.join(DIRECTORY),
        (None, Some(user)) => std::env::temp_dir().join(format!("{DIRECTORY}-{user}")),
        (None, None) => std::env::temp_dir().join(DIRECTORY),
    }
}

/// Makes the directory, or makes sure that it is ours alone: where everybody may write, somebody else may have made it.
#[cfg(unix)]
fn own(directory: &Path) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt};
    match std::fs::DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let found = std::fs::symlink_metadata(directory)?;
    let is_ours = found.is_dir() && Some(found.uid()) == exec_container::Here.user_id();
    let open_to_others = found.mode() & 0o077;
    if is_ours && open_to_others == 0 {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is somebody else's, or open to others"))
}

#[cfg(not(unix))]
fn own(directory: &Path) -> io::Result<()> {
    std::fs::create_dir_all(directory)
}

#[cfg(all(test, unix))]
mod tests {
    use std::collections::BTreeSet;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    use exec_container::surroundings::sample::Sample;

    use super::*;

    #[test]
    fn the_directory_is_ours_alone() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("place");
        own(&place).unwrap();
        own(&place).unwrap();
        assert_eq!(place.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert!(own(&place).is_err(), "open to others");
        let link = dir.path().join("link");
        std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o700)).unwrap();
        symlink(&place, &link).unwrap();
        assert!(own(&link).is_err(), "a link leads to where somebody else wants it");
    }

    /// R15
    #[test]
    fn what_the_dead_left_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let own = format!("podman-{}-0.sock", std::process::id());
        let names = ["podman-1-0.sock", "podman-2-7.sock", "other.sock", &own];
        let listeners = names.map(|name| UnixListener::bind(dir.path().join(name)).unwrap());
        let found = || {
            let dead = dead_sockets(dir.path(), |process| process != "2");
            dead.iter().map(|path| path.file_name().unwrap().to_owned()).collect::<BTreeSet<_>>()
        };
        assert!(found().is_empty(), "a service may outlive its owner");
        drop(listeners);
        assert_eq!(found(), BTreeSet::from(["podman-2-7.sock".into(), own.into()]));
    }

    #[test]
    fn a_socket_of_ours_is_known_by_its_place() {
        let root = Sample { user_id: 0, ..Sample::default() };
        assert!(is_ours(&root, Path::new("/run/agentctl/podman-4711-0.sock")));
        for other in ["/run/podman/podman.sock", "/run/agentctl/other.sock", "/tmp/podman-4711-0.sock"] {
            assert!(!is_ours(&root, Path::new(other)), "{other}");
        }
    }

    #[test]
    fn everybody_has_a_place() {
        assert_eq!(directory(&Sample { user_id: 0, ..Sample::default() }), Path::new("/run/agentctl"));
        let host = Sample::default();
        assert_eq!(directory(&host), std::env::temp_dir().join("agentctl-1000"));
        let session = host.file("/run/user/1000/bus", "");
        assert_eq!(directory(&session), Path::new("/run/user/1000/agentctl"));
    }
}
