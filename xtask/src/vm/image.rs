//! The system to boot: made once from packages, and again when its ingredients change.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::tools;
use crate::args::Arch;
use crate::cargo;
use crate::host;

/// The packages besides the kernel: a service manager with its session and bus, engines, and the programs
/// that the tests run.
const PACKAGES: &[&str] = &[
    "systemd-sysv",
    "dbus",
    "dbus-user-session",
    "libpam-systemd",
    "udev",
    "kmod",
    "initramfs-tools",
    "openssh-server",
    "apparmor",
    "apparmor-utils",
    "docker.io",
    "podman",
    "uidmap",
    "slirp4netns",
    "fuse-overlayfs",
    "crun",
    "runc",
    "netavark",
    "aardvark-dns",
    "iptables",
    "nftables",
    "iproute2",
    "ca-certificates",
    "busybox-static",
    "bubblewrap",
    "git",
    "python3",
    "gcc",
    "libc6-dev",
    "make",
    "strace",
    "tmux",
    "procps",
    "psmisc",
    "util-linux",
    "sudo",
    "curl",
    "less",
    "netcat-openbsd",
    "fuse3",
];

/// The default source of packages, if this machine's own sources name none.
const MIRROR: &str = "http://deb.debian.org/debian";

/// The script that sets the system up, run inside it.
const SET_UP: &str = include_str!("set_up.sh");

/// Space for the images of engines and for the files of the tests; most of it is never used.
const SIZE: &str = "12G";

/// A system that can be booted.
#[derive(Debug)]
pub(super) struct Image {
    directory: PathBuf,
    arch: Arch,
}

impl Image {
    /// The system of this release, processor and kernel, made if it is missing. The default kernel is a small
    /// one that Debian builds for virtual machines.
    pub(super) fn prepare(release: &str, arch: Arch, kernel: Option<&str>) -> Result<Self> {
        let usual = format!("linux-image-cloud-{}", arch.debian());
        let kernel = kernel.unwrap_or(&usual);
        let mut hasher = DefaultHasher::new();
        (PACKAGES, SET_UP, SIZE, release, kernel).hash(&mut hasher);
        let directory = cache()?.join(format!("{release}-{}-{:016x}", arch.debian(), hasher.finish()));
        let image = Self { directory, arch };
        if image.disk().exists() {
            println!("{} exists already", image.disk().display());
        } else {
            image.make(release, kernel)?;
        }
        Ok(image)
    }

    pub(super) fn arch(&self) -> Arch {
        self.arch
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(super) fn disk(&self) -> PathBuf {
        self.directory.join("disk.img")
    }

    pub(super) fn kernel(&self) -> PathBuf {
        self.directory.join("vmlinuz")
    }

    pub(super) fn initrd(&self) -> PathBuf {
        self.directory.join("initrd.img")
    }

    /// The key that logs in as every user.
    pub(super) fn key(&self) -> PathBuf {
        self.directory.join("key")
    }

    fn make(&self, release: &str, kernel: &str) -> Result<()> {
        if !host::is_root() {
            bail!("only root can make the image; try: sudo -E cargo xtask vm");
        }
        tools::install(self.arch)?;
        fs::create_dir_all(&self.directory)?;
        let (root, set_up) = (self.directory.join("root"), self.directory.join("set-up.sh"));
        for left in [&root, &self.key()] {
            let _ = fs::remove_dir_all(left);
            let _ = fs::remove_file(left);
        }
        cargo::run(Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(self.key()))?;
        fs::write(&set_up, SET_UP)?;
        let packages: Vec<&str> = PACKAGES.iter().copied().chain([kernel]).collect();
        let hook = format!(
            "--customize-hook=PUBLIC_KEY=\"$(cat '{0}.pub')\" sh '{1}' \"$1\"",
            self.key().display(),
            set_up.display()
        );
        cargo::run(
            Command::new("mmdebstrap")
                .args(["--variant=minbase", "--components=main", "--architectures", self.arch.debian()])
                .arg(format!("--include={}", packages.join(",")))
                .arg(hook)
                .arg(release)
                .arg(&root)
                .arg(format!("deb {} {release} main", mirror())),
        )?;
        copy_newest(&root.join("boot"), "vmlinuz-", &self.kernel())?;
        copy_newest(&root.join("boot"), "initrd.img-", &self.initrd())?;
        let unfinished = self.directory.join("disk.unfinished");
        make_file_system(&root, &unfinished, SIZE, "system")?;
        fs::rename(&unfinished, self.disk())?;
        fs::remove_dir_all(&root).context("cannot remove the directory that the image was made from")
    }
}

/// An ext4 file system with the contents of a directory.
pub(super) fn make_file_system(from: &Path, image: &Path, size: &str, label: &str) -> Result<()> {
    let _ = fs::remove_file(image);
    let mut mkfs = Command::new("mkfs.ext4");
    mkfs.args(["-q", "-F", "-L", label, "-E", "lazy_itable_init=1,lazy_journal_init=1", "-d"]);
    cargo::run(mkfs.arg(from).arg(image).arg(size))
}

/// Outside the checkout, so that it survives `cargo clean` and a fresh clone.
fn cache() -> Result<PathBuf> {
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    Ok(base.or_else(home).context("neither XDG_CACHE_HOME nor HOME is set")?.join("agentctl-vm"))
}

/// The mirror of this machine's own sources.
fn mirror() -> String {
    let lists = ["/etc/apt/sources.list.d/debian.sources", "/etc/apt/sources.list"];
    let found = lists.iter().find_map(|list| mirror_in(&fs::read_to_string(list).ok()?));
    found.unwrap_or_else(|| MIRROR.to_owned())
}

fn mirror_in(list: &str) -> Option<String> {
    let lines = list.lines().filter(|line| !line.trim_start().starts_with('#'));
    let mut words = lines.flat_map(str::split_whitespace);
    let is_mirror = |word: &&str| word.starts_with("http") && word.trim_end_matches('/').ends_with("/debian");
    words.find(is_mirror).map(str::to_owned)
}

fn copy_newest(directory: &Path, prefix: &str, to: &Path) -> Result<()> {
    let names = fs::read_dir(directory)?.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let newest = names.filter(|name| name.starts_with(prefix)).max();
    let newest = newest.with_context(|| format!("no {prefix}* in {}", directory.display()))?;
    fs::copy(directory.join(newest), to).map(drop).with_context(|| format!("cannot write {}", to.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mirror_is_that_of_the_machine() {
        let new = "# URIs: http://old/debian\nTypes: deb\nURIs: http://a.example/debian\nSuites: x\n";
        assert_eq!(mirror_in(new).as_deref(), Some("http://a.example/debian"));
        let old = "deb http://b.example/debian-security x main\ndeb http://b.example/debian/ x main\n";
        assert_eq!(mirror_in(old).as_deref(), Some("http://b.example/debian/"));
        assert_eq!(mirror_in("deb http://c.example/ubuntu x main\n"), None);
    }
}
