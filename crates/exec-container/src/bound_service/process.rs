//! The program as the child of a helper that reads our pipe.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use exec_init::Executable;
use tokio::process::Child;

/// Keeps the program running as long as any copy is open.
#[derive(Debug, Clone)]
pub struct Lifeline(Arc<File>);

impl Lifeline {
    /// A copy for a helper that holds it too; its output is not read.
    pub(crate) fn as_output(&self) -> io::Result<Stdio> {
        self.0.try_clone().map(Stdio::from)
    }
}

/// A program that ends with us.
#[derive(Debug)]
pub struct BoundService {
    /// Reaped by the runtime when it has ended.
    helper: Child,
    lifeline: Lifeline,
}

impl BoundService {
    /// Starts a program with this process's environment, adjusted by `change`; `None` if this build has no helper.
    pub fn spawn(
        program: &Path,
        arguments: &[OsString],
        change: impl FnOnce(&mut Command),
    ) -> io::Result<Option<Self>> {
        let Some(executable) = Executable::load()? else { return Ok(None) };
        let mut command = Command::new(executable.path());
        command.arg0("exec-init").arg("tied").arg(program).args(arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        change(&mut command);
        let mut helper = tokio::process::Command::from(command).stdin(Stdio::piped()).spawn()?;
        let pipe = helper.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let lifeline = Lifeline(Arc::new(File::from(pipe.into_owned_fd()?)));
        Ok(Some(Self { helper, lifeline }))
    }

    /// Whether the program has ended while it was still needed.
    pub fn has_ended(&mut self) -> io::Result<bool> {
        self.helper.try_wait().map(|status| status.is_some())
    }

    /// Its lifeline.
    pub fn lifeline(&self) -> Lifeline {
        self.lifeline.clone()
    }
}
