//! The embedded `exec-init` as something the kernel can execute, without a file on disk where possible.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use exec_core::{Error, ErrorKind, Result};
use rustix::fs::{MemfdFlags, SealFlags};

use crate::config::NAME;

/// An executable `exec-init`.
#[derive(Debug)]
pub(crate) struct Program {
    path: PathBuf,
    _source: Source,
}

/// What keeps the path valid.
#[derive(Debug)]
enum Source {
    Memory { _file: File },
    Disk { _path: tempfile::TempPath },
}

impl Program {
    /// Puts the embedded program into memory; onto disk where the system refuses to execute from memory.
    pub(crate) fn load() -> Result<Self> {
        let Some(program) = exec_init::native() else {
            return Err(Error::new(
                ErrorKind::Unavailable,
                "load",
                "there is no exec-init for this architecture",
            )
            .with_backend(NAME)
            .with_context("architecture", std::env::consts::ARCH)
            .with_remedy("use a container, or build for x86_64 or aarch64"));
        };
        Self::in_memory(program.bytes).or_else(|_| Self::on_disk(program.bytes)).map_err(|error| {
            Error::new(ErrorKind::Io, "load", "exec-init could not be put where it can be executed")
                .with_backend(NAME)
                .with_source(error)
                .with_remedy("check that the temporary directory is writable and not mounted noexec")
        })
    }

    fn in_memory(bytes: &[u8]) -> std::io::Result<Self> {
        // Asking for an executable one by name fails on kernels that don't know the flag yet.
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let fd = rustix::fs::memfd_create("exec-init", flags | MemfdFlags::EXEC)
            .or_else(|_| rustix::fs::memfd_create("exec-init", flags))?;
        let mut file = File::from(fd);
        file.write_all(bytes)?;
        // Sealed, so that nobody who gets hold of the descriptor can change what will be executed.
        rustix::fs::fcntl_add_seals(
            &file,
            SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL,
        )?;
        let path = format!("/proc/self/fd/{}", file.as_raw_fd()).into();
        Ok(Self { path, _source: Source::Memory { _file: file } })
    }

    fn on_disk(bytes: &[u8]) -> std::io::Result<Self> {
        let mut file = tempfile::Builder::new().prefix("exec-init-").tempfile()?;
        file.write_all(bytes)?;
        file.as_file().set_permissions(std::fs::Permissions::from_mode(0o500))?;
        // Closed for writing, or the kernel refuses to execute it.
        let path = file.into_temp_path();
        Ok(Self { path: path.to_path_buf(), _source: Source::Disk { _path: path } })
    }

    /// Where it can be executed from, by this process.
    pub(crate) fn path(&self) -> &std::path::Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_give_an_executable() {
        let bytes = exec_init::native().unwrap().bytes;
        for program in [Program::in_memory(bytes).unwrap(), Program::on_disk(bytes).unwrap()] {
            let status = std::process::Command::new(program.path()).arg("--version").status().unwrap();
            assert!(status.success(), "{program:?}");
        }
    }
}
