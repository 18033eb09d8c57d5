//! Files of ours that engines must find on this host. They are kept for the next run.

use std::io::{self, Read, Write};
use std::path::PathBuf;

use exec_control::unique;
use exec_core::{Error, ErrorKind, Remedy, Result};
use exec_files::{Dir, Sharing, UserDirs};

/// How many bytes are compared at a time.
const PIECE: usize = 64 * 1024;

/// Ensures that a file with exactly these bytes exists under this name, and returns its path.
pub(crate) fn keep(name: &str, bytes: &[u8], backend: &str) -> Result<String> {
    let path = directory().join(name);
    open().and_then(|cache| put(&cache, name, bytes)).map_err(|error| {
        Error::new(ErrorKind::Io, "load", format!("`{}` can't be written", path.display()))
            .with_backend(backend)
            .with_source(error)
            .with_remedy(Remedy::host(REMEDY))
    })?;
    path.to_str().map(str::to_owned).ok_or_else(|| {
        Error::new(ErrorKind::InvalidInput, "load", format!("the path `{}` is not UTF-8", path.display()))
            .with_backend(backend)
            .with_remedy(Remedy::host("set XDG_CACHE_HOME to a directory whose name is"))
    })
}

/// The remedy if the directory can't be used.
pub(crate) const REMEDY: &str =
    "make the directory yours and close it to others (`chmod go-w`), or set XDG_CACHE_HOME to one that is";

/// This user's cache directory.
pub(crate) fn directory() -> PathBuf {
    UserDirs::here().cache
}

/// Opens the cache directory and creates it if missing. It must be ours: its contents decide what PID 1 is and what
/// commands are forbidden.
pub(crate) fn open() -> io::Result<Dir> {
    Dir::make_own(&directory(), Sharing::Readable)
}

fn put(cache: &Dir, name: &str, bytes: &[u8]) -> io::Result<()> {
    if is_already(cache, name, bytes).unwrap_or(false) {
        return Ok(());
    }
    let draft = unique(".new");
    let mut file = cache.create_file(&draft, 0o700)?;
    let written = file.write_all(bytes).and_then(|()| make_executable(&file));
    // Atomically: another process may be using the same name.
    written.and_then(|()| cache.rename(&draft, name)).inspect_err(|_| {
        // If the draft can't be removed either, the first error is enough.
        let _ = cache.remove_file(&draft);
    })
}

/// Whether the file has exactly these bytes. It is read in pieces: allocating memory for all of it takes longer
/// than reading.
fn is_already(cache: &Dir, name: &str, bytes: &[u8]) -> io::Result<bool> {
    let mut file = cache.file(name)?;
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
fn make_executable(file: &std::fs::File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o555))
}

#[cfg(not(unix))]
fn make_executable(_: &std::fs::File) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_what_is_meant_is_replaced() {
        let place = tempfile::tempdir().unwrap();
        let cache = Dir::make_own(&place.path().join("new"), Sharing::Readable).unwrap();
        let path = place.path().join("new/init");
        put(&cache, "init", b"program").unwrap();
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, b"PROGRAM").unwrap();
        put(&cache, "init", b"program").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"program");
        assert_eq!(cache.entries(10).unwrap().len(), 1, "nothing else is left there");
    }
}
