//! Where tests put their files: in memory, if this machine has enough of it.
//!
//! Tests of hostile workspaces make and remove tens of thousands of files. On ext4 that gets slower with every suite that
//! does so at the same time: a new file never takes the place of one that was deleted a moment ago, and the search for
//! another takes most of the processor.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::host;
#[cfg(unix)]
use crate::ordinary_user::TestUser;

/// Kept short: a socket's path has about a hundred bytes, and this is where it begins.
const PREFIX: &str = "/tmp/exec-test.";

/// With less memory than this, in KiB, files stay on disk.
const ENOUGH: u64 = 8 << 20;

/// A file system in memory, until this is dropped; without one, the system's own temporary directory.
#[derive(Debug)]
pub(crate) struct Scratch {
    mounted: Option<PathBuf>,
}

impl Scratch {
    /// Makes one, and removes those that killed runs left behind.
    pub(crate) fn make() -> Self {
        if !host::is_root() {
            return Self { mounted: None };
        }
        sweep();
        let mounted = mount(&PathBuf::from(format!("{PREFIX}{}", std::process::id())));
        if let Err(error) = &mounted {
            println!("tests keep their files on disk: {error:#}");
        }
        Self { mounted: mounted.ok() }
    }

    /// Where it is, if it is there.
    pub(crate) fn directory(&self) -> Option<&Path> {
        self.mounted.as_deref()
    }

    /// Where it is, if containers of this user's see it. Those of an engine that the user has started before see only the
    /// mounts of that time, unless the system passes new ones on.
    #[cfg(unix)]
    pub(crate) fn directory_for(&self, user: &TestUser) -> Option<&Path> {
        let directory = self.mounted.as_deref()?;
        let mut look = user.command("podman");
        look.args(["unshare", "findmnt", "--noheadings", "--mountpoint"]).arg(directory);
        let status = look.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success()).then_some(directory)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Some(directory) = &self.mounted {
            unmount(directory);
        }
    }
}

fn mount(directory: &Path) -> Result<PathBuf> {
    let memory = fs::read_to_string("/proc/meminfo").context("cannot read /proc/meminfo")?;
    ensure!(
        total(&memory).is_some_and(|kib| kib >= ENOUGH),
        "there is less than {} GiB of memory",
        ENOUGH >> 20
    );
    fs::create_dir(directory).with_context(|| format!("cannot make {}", directory.display()))?;
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", "mode=1777", "exec-test"]).arg(directory);
    crate::cargo::run(&mut mount).inspect_err(|_| drop(fs::remove_dir(directory)))?;
    Ok(directory.to_owned())
}

/// The memory of a machine, in KiB.
fn total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// Removes what is there of processes that are not.
fn sweep() {
    for entry in fs::read_dir("/tmp").into_iter().flatten().flatten() {
        let path = entry.path();
        let owner = path.to_str().and_then(|path| path.strip_prefix(PREFIX)?.parse::<u32>().ok());
        if owner.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            unmount(&path);
        }
    }
}

/// At once from here on, and for good when the last who uses it is gone.
fn unmount(directory: &Path) {
    let mut unmount = Command::new("umount");
    unmount.arg("--lazy").arg(directory).stderr(Stdio::null());
    unmount.status().ok();
    fs::remove_dir(directory).ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read() {
        assert_eq!(total("MemTotal:       24628344 kB\nMemFree: 1 kB\n"), Some(24_628_344));
        assert_eq!(total("MemFree: 1 kB\n"), None);
    }
}
