//! The embedded program as something the kernel can execute, without a file on disk where possible.
//!
//! Callers decide where to run it and how to word errors.

use std::fs::File;
use std::io::{Result, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use rustix::fs::{MemfdFlags, SealFlags};

/// The copy shared within this process, for as long as it is in use.
static LOADED: Mutex<Weak<Executable>> = Mutex::new(Weak::new());

/// An `exec-init` that this process can execute for as long as the value lives.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// if let Some(program) = exec_init::Executable::load()? {
///     let status = program.command().arg("--version").status()?;
///     assert!(status.success());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Executable {
    path: PathBuf,
    _source: Source,
}

/// Keeps the path valid.
#[derive(Debug)]
enum Source {
    Memory { _file: File },
    Disk { _path: tempfile::TempPath },
}

impl Executable {
    /// Puts the embedded program into memory, or onto disk if the system refuses to execute from memory.
    ///
    /// Returns `None` if this build carries no program.
    ///
    /// # Errors
    ///
    /// Fails if neither memory nor the temporary directory can hold the program.
    pub fn load() -> Result<Option<Arc<Self>>> {
        let Some(program) = crate::native() else { return Ok(None) };
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = loaded.upgrade() {
            return Ok(Some(known));
        }
        let new = Arc::new(Self::in_memory(program.bytes).or_else(|_| Self::on_disk(program.bytes))?);
        *loaded = Arc::downgrade(&new);
        Ok(Some(new))
    }

    fn in_memory(bytes: &[u8]) -> Result<Self> {
        // Explicitly asking for an executable one fails on kernels that don't know the flag yet.
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let fd = rustix::fs::memfd_create("exec-init", flags | MemfdFlags::EXEC)
            .or_else(|_| rustix::fs::memfd_create("exec-init", flags))?;
        let mut file = File::from(fd);
        file.write_all(bytes)?;
        // Sealed, so that the descriptor can't be used to change the code that will be executed.
        rustix::fs::fcntl_add_seals(
            &file,
            SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL,
        )?;
        let path = format!("/proc/self/fd/{}", file.as_raw_fd()).into();
        Ok(Self { path, _source: Source::Memory { _file: file } })
    }

    fn on_disk(bytes: &[u8]) -> Result<Self> {
        let mut file = tempfile::Builder::new().prefix("exec-init-").tempfile()?;
        file.write_all(bytes)?;
        file.as_file().set_permissions(std::fs::Permissions::from_mode(0o500))?;
        // Closed for writing, because the kernel refuses to execute a file open for writing.
        let path = file.into_temp_path();
        Ok(Self { path: path.to_path_buf(), _source: Source::Disk { _path: path } })
    }

    /// A command that runs the program under its own name, for process lists, with an empty environment.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.arg0("exec-init").env_clear();
        command
    }

    /// The path this process can execute it from.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_users_share_one_and_the_last_removes_it() {
        let one = Executable::load().unwrap().unwrap();
        let (other, path) = (Executable::load().unwrap().unwrap(), one.path().to_owned());
        assert!(Arc::ptr_eq(&one, &other));
        drop(one);
        assert!(path.exists() && other.command().arg("--version").status().unwrap().success());
        assert_eq!(Arc::strong_count(&other), 1, "it has no other owner");
    }

    #[test]
    fn both_ways_give_an_executable() {
        let bytes = crate::native().unwrap().bytes;
        for program in [Executable::in_memory(bytes).unwrap(), Executable::on_disk(bytes).unwrap()] {
            let status = program.command().arg("--version").status().unwrap();
            assert!(status.success(), "{program:?}");
        }
    }
}
