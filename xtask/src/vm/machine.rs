//! The running machine: booted, reached over ssh, and gone when this value is.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::accelerator::Accelerator;
use super::image::Image;
use crate::cargo;

/// How long an emulated machine may take until it lets us log in.
const BOOT: Duration = Duration::from_secs(300);

/// A machine that has booted.
#[derive(Debug)]
pub(super) struct Machine {
    qemu: Child,
    port: u16,
    key: PathBuf,
}

impl Machine {
    /// Boots the system. What it writes goes with it: the image stays as it is.
    pub(super) fn boot(image: &Image, tests: PathBuf) -> Result<Self> {
        let accelerator = Accelerator::find(&image.kernel())?;
        println!("booting with {accelerator:?}; its console is in {}", console(image).display());
        let port = free_port()?;
        let mut qemu = Command::new("qemu-system-x86_64");
        qemu.args(accelerator.options())
            .args(["-smp", "2", "-m", "4096", "-display", "none", "-monitor", "none"]);
        qemu.arg("-no-reboot").arg("-kernel").arg(image.kernel()).arg("-initrd").arg(image.initrd());
        qemu.args([
            "-append",
            "root=/dev/vda rw console=ttyS0 security=apparmor net.ifnames=0 quiet mitigations=off",
        ]);
        for disk in [image.disk(), tests] {
            let options = format!("file={},format=raw,if=virtio,cache=unsafe,snapshot=on", disk.display());
            qemu.arg("-drive").arg(options);
        }
        qemu.arg("-netdev").arg(format!("user,id=net,hostfwd=tcp:127.0.0.1:{port}-:22"));
        qemu.args(["-device", "virtio-net-pci,netdev=net", "-device", "virtio-rng-pci"]);
        qemu.arg("-serial").arg(format!("file:{}", console(image).display()));
        let qemu = qemu.stdin(Stdio::null()).spawn().context("cannot start qemu-system-x86_64")?;
        let mut machine = Self { qemu, port, key: image.key() };
        machine.await_login()?;
        cargo::run(&mut machine.shell("root", "systemctl is-system-running --wait; uname -a; docker version -f '{{.Server.Version}}'; podman --version"))?;
        Ok(machine)
    }

    /// Runs a line of shell; its output is ours.
    pub(super) fn run(&self, login: &str, script: &str) -> Result<()> {
        let status = self.shell(login, script).status().context("cannot start ssh")?;
        if !status.success() {
            bail!("it ended with {status}");
        }
        Ok(())
    }

    fn await_login(&mut self) -> Result<()> {
        let end = Instant::now() + BOOT;
        loop {
            let mut login = self.shell("root", "true");
            if login.stdout(Stdio::null()).stderr(Stdio::null()).status()?.success() {
                return Ok(());
            }
            if let Some(status) = self.qemu.try_wait()? {
                bail!("qemu ended with {status}");
            }
            if Instant::now() > end {
                bail!("no login succeeded within {} s; the console's last lines say why", BOOT.as_secs());
            }
            std::thread::sleep(Duration::from_secs(1));
        }
    }

    /// A login of its own for each command, so that its session is a real one.
    fn shell(&self, login: &str, script: &str) -> Command {
        let mut ssh = Command::new("ssh");
        ssh.arg("-q").arg("-i").arg(&self.key).arg("-p").arg(self.port.to_string());
        for option in
            ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "ConnectTimeout=5", "BatchMode=yes"]
        {
            ssh.arg("-o").arg(option);
        }
        ssh.arg(format!("{login}@127.0.0.1")).arg(script).stdin(Stdio::null());
        ssh
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // Its disks are snapshots: what it wrote goes with it.
        let _ = self.qemu.kill();
        let _ = self.qemu.wait();
    }
}

fn console(image: &Image) -> PathBuf {
    Path::new(image.directory()).join("console.log")
}

/// Another may take it before qemu does; then qemu says so.
fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
