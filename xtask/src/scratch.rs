//! Where tests put their files: in memory, if this machine has enough.
//!
//! Tests of hostile workspaces make and remove tens of thousands of files. On ext4 this slows down with every
//! suite that does so at the same time: a new file never reuses the place of a recently deleted one, and the
//! search for another takes most of the CPU time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use exec_wire::procfs::{Mount, mounts};

use crate::host;
#[cfg(unix)]
use crate::ordinary_user::TestUser;

/// Kept short: a socket's path has about a hundred bytes, and begins with this.
const PREFIX: &str = "/tmp/exec-test.";

/// Its name in the list of mounts.
const SOURCE: &str = "exec-test";

/// With less memory than this, in KiB, files stay on disk.
const ENOUGH: u64 = 8 << 20;

/// A file system in memory that lasts until this is dropped; without one, the system's own temporary
/// directory.
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

    /// Its path, if it exists.
    pub(crate) fn directory(&self) -> Option<&Path> {
        self.mounted.as_deref()
    }

    /// Its path, if this user's containers can see it. An engine that was started earlier sees only the
    /// mounts of that time, unless the system propagates new ones.
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
    mount.args(["-t", "tmpfs", "-o", "mode=1777,size=4g", SOURCE]).arg(directory);
    crate::cargo::run(&mut mount).inspect_err(|_| drop(fs::remove_dir(directory)))?;
    Ok(directory.to_owned())
}

/// The memory of a machine, in KiB.
fn total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// Removes the mounts of dead processes.
fn sweep() {
    let mountinfo = fs::read("/proc/self/mountinfo").unwrap_or_default();
    for (directory, owner) in ours(&mountinfo) {
        if !Path::new(&format!("/proc/{owner}")).exists() {
            unmount(Path::new(&directory));
        }
    }
}

/// Our mounts and the processes that made them. The kernel's list holds only real mounts; any user can make a
/// name like ours in `/tmp`, and a link of that name would lead to a foreign mount.
fn ours(mountinfo: &[u8]) -> impl Iterator<Item = (String, u32)> {
    let of_ours = |mount: &Mount<'_>| mount.file_system == b"tmpfs" && *mount.source == *SOURCE.as_bytes();
    mounts(mountinfo).filter(of_ours).filter_map(|mount| {
        let directory = String::from_utf8(mount.point.into_owned()).ok()?;
        let owner = directory.strip_prefix(PREFIX)?.parse().ok()?;
        Some((directory, owner))
    })
}

/// Detached at once; freed when the last process that uses it is gone.
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

    #[test]
    fn only_our_own_mounts_are_removed() {
        let mounts = b"36 25 0:31 / /tmp/exec-test.812 rw,relatime - tmpfs exec-test rw\n\
                      37 25 0:32 / /tmp/exec-test.x rw,relatime - tmpfs exec-test rw\n\
                      38 25 0:33 / /tmp/exec-test.813 rw,relatime - tmpfs theirs rw\n\
                      39 25 0:34 / /home rw shared:5 - tmpfs exec-test rw\n";
        assert_eq!(ours(mounts).collect::<Vec<_>>(), [("/tmp/exec-test.812".to_owned(), 812)]);
    }
}
