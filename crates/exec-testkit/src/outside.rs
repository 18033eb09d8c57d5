//! The control of every probe: the same thing on the host, where it must work.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

/// Runs the probe on the host and returns its output, without the last newline.
pub(crate) fn run(probe: &Path, dir: &Path, args: &[&str]) -> Result<String> {
    let output = Command::new(probe)
        .args(args)
        .current_dir(dir)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("can't run {} on the host", probe.display()))?;
    ensure!(output.status.success(), "the control `{}` ended with {}", args.join(" "), output.status);
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

/// A process of the host that stays until this is dropped.
#[derive(Debug)]
pub(crate) struct Bystander {
    child: Child,
}

impl Bystander {
    pub(crate) fn start(probe: &Path, marker: &str) -> Result<Self> {
        let child = Command::new(probe)
            .args(["pause", marker])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .context("can't start a process on the host")?;
        Ok(Self { child })
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        // It may be dead already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether the tests run as root.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
