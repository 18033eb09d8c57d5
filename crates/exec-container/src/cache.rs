//! Files of ours that engines have to find on this host. They stay where they are for the next time.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use exec_core::{Error, ErrorKind, Result};

use crate::surroundings::{Here, Surroundings};

/// How much of a file is compared at a time.
const PIECE: usize = 64 * 1024;

/// Sees to it that a file of this name is there, and is this to the last byte. Its path.
pub(crate) fn keep(name: &str, bytes: &[u8], backend: &str) -> Result<String> {
    let directory = directory();
    let path = directory.join(name);
    put(&path, &directory, bytes).map_err(|error| {
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
pub(crate) fn directory() -> PathBuf {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let own = variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")));
    match own {
        Some(cache) => cache.join("agentctl"),
        // Where everybody may write, a name of one's own; whose it is, is looked at before it is used.
        None => std::env::temp_dir().join(format!("agentctl-{}", Here.user_id().unwrap_or_default())),
    }
}

/// Whoever can write there decides what PID 1 is, and what is forbidden to commands.
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
    if is_already(path, bytes).unwrap_or(false) {
        return Ok(());
    }
    let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(directory)?;
    file.write_all(bytes)?;
    make_executable(file.as_file())?;
    // At once and whole: another process may be using the same name.
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Whether these very bytes are there. Piece by piece: to find memory for all of them takes longer than to read them.
fn is_already(path: &Path, bytes: &[u8]) -> std::io::Result<bool> {
    let mut file = std::fs::File::open(path)?;
    if file.metadata()?.len() != bytes.len() as u64 {
        return Ok(false);
    }
    let mut piece = vec![0; PIECE.min(bytes.len())];
    for expected in bytes.chunks(PIECE) {
        let Some(found) = piece.get_mut(..expected.len()) else { return Ok(false) };
        file.read_exact(found)?;
        if found != expected {
            return Ok(false);
        }
    }
    Ok(true)
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
    fn a_file_that_is_not_what_is_meant_is_replaced() {
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
