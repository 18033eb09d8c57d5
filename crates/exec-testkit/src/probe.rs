//! The probe program on disk.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

const BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/exec-probe"));

/// The probe program, written once. While a file is open for writing in one thread, a process that another
/// thread forks can keep it open and make it unusable (`ETXTBSY`), so it is written before the first case
/// runs, and cases link to it.
#[derive(Debug, Clone)]
pub(crate) struct Probe {
    home: Arc<TempDir>,
}

impl Probe {
    /// Writes it to a directory that lasts as long as the value.
    pub(crate) fn install() -> io::Result<Self> {
        let home = tempfile::Builder::new().prefix("exec-probe.").tempdir()?;
        open_to_all(home.path())?;
        let path = home.path().join("exec-probe");
        fs::write(&path, BYTES)?;
        open_to_all(&path)?;
        Ok(Self { home: Arc::new(home) })
    }

    /// Its path on the host.
    pub(crate) fn path(&self) -> PathBuf {
        self.home.path().join("exec-probe")
    }

    /// Links it into a directory and returns its path there.
    pub(crate) fn place(&self, dir: &Path) -> io::Result<PathBuf> {
        let path = dir.join("exec-probe");
        fs::hard_link(self.path(), &path)?;
        Ok(path)
    }
}

/// Lets every user read, execute and search it, whatever the umask is.
pub(crate) fn open_to_all(path: &Path) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(0o755))
}
