//! `exec-init` as a file of this host, for engines that share its files.

use std::io::Write;
use std::path::{Path, PathBuf};

use exec_core::{Error, ErrorKind, Result};
use exec_init::Program;

use super::{Placement, file_name};
use crate::surroundings::{Here, Surroundings};

/// What an engine writes there when it sets up a network.
const HOSTS: &[u8] = b"127.0.0.1\tlocalhost cell\n::1\tlocalhost ip6-localhost ip6-loopback\n";

/// Puts the program into the user's cache, where it stays for the next time; a file there that is not the program to
/// the last byte is replaced.
pub(super) fn place(program: &Program, backend: &str) -> Result<Placement> {
    let directory = cache_directory();
    Ok(Placement::Bind {
        source: place_one(&directory, &file_name(program), program.bytes, backend)?,
        hosts: place_one(&directory, "hosts", HOSTS, backend)?,
    })
}

fn place_one(directory: &Path, name: &str, bytes: &[u8], backend: &str) -> Result<String> {
    let path = directory.join(name);
    put(&path, directory, bytes).map_err(|error| {
        Error::new(ErrorKind::Io, "load", format!("`{}` can't be written", path.display()))
            .with_backend(backend)
            .with_source(error)
            .with_remedy("make the directory yours and writable, or set XDG_CACHE_HOME to one that is")
    })?;
    path.to_str().map(str::to_owned).ok_or_else(|| {
        Error::new(ErrorKind::InvalidInput, "load", format!("the path `{}` is not UTF-8", path.display()))
            .with_backend(backend)
            .with_remedy("set XDG_CACHE_HOME to a directory whose name is")
    })
}

/// Where this user's programs keep what they can make again.
pub(crate) fn cache_directory() -> PathBuf {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let own = variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")));
    match own {
        Some(cache) => cache.join("agentctl"),
        // Where everybody may write, a name of one's own; whose it is, is looked at before it is used.
        None => std::env::temp_dir().join(format!("agentctl-{}", Here.user_id().unwrap_or_default())),
    }
}

/// Whoever can write there decides what PID 1 is.
#[cfg(unix)]
fn must_be_ours(directory: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let found = std::fs::symlink_metadata(directory)?;
    let for_others = found.mode() & 0o002;
    if found.is_dir() && Some(found.uid()) == Here.user_id() && for_others == 0 {
        return Ok(());
    }
    Err(std::io::Error::new(std::io::ErrorKind::PermissionDenied, "it is somebody else's, or open to others"))
}

#[cfg(not(unix))]
fn must_be_ours(_: &Path) -> std::io::Result<()> {
    Ok(())
}

fn put(path: &Path, directory: &Path, bytes: &[u8]) -> std::io::Result<()> {
    std::fs::create_dir_all(directory)?;
    must_be_ours(directory)?;
    if std::fs::read(path).is_ok_and(|found| found == bytes) {
        return Ok(());
    }
    let mut file = tempfile::Builder::new().prefix(".exec-init-").tempfile_in(directory)?;
    file.write_all(bytes)?;
    make_executable(file.as_file())?;
    // At once and whole: another process may be using the same name.
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(unix)]
fn make_executable(file: &std::fs::File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o555))
}

#[cfg(not(unix))]
fn make_executable(_: &std::fs::File) -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_the_program_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let (directory, path) = (dir.path().join("new"), dir.path().join("new/init"));
        put(&path, &directory, b"program").unwrap();
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, b"PROGRAM").unwrap();
        put(&path, &directory, b"program").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"program");
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 1, "nothing else is left there");
    }
}
