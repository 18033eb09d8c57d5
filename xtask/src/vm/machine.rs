//! The running machine: booted, reached over ssh, and shut down when this value is dropped.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::accelerator::Accelerator;
use super::image::Image;
use crate::cargo;

/// How long an emulated machine may take until the first login.
const BOOT: Duration = Duration::from_secs(300);

/// Prints the kind of machine in one line.
const DESCRIBE: &str = "systemctl is-system-running --wait >&2; version() { grep -o '[0-9]*[.][0-9]*' | head -n 1; }; \
    echo \"Debian $(cat /etc/debian_version), Linux $(uname -r | version), systemd $(systemctl --version | grep -o '[0-9]*' | head -n 1), \
    Docker $(docker version -f '{{.Server.Version}}' | version), Podman $(podman --version | version), $(uname -m)\"";

/// A machine that has booted.
#[derive(Debug)]
pub(super) struct Machine {
    qemu: Child,
    port: u16,
    key: PathBuf,
}

impl Machine {
    /// Boots the system. Its writes are discarded: the image stays unchanged.
    pub(super) fn boot(image: &Image, tests: PathBuf) -> Result<Self> {
        let arch = image.arch();
        let accelerator = Accelerator::find(arch, &image.kernel())?;
        println!("booting with {accelerator:?}; its console is in {}", console(image).display());
        let port = free_port()?;
        let mut qemu = Command::new(arch.qemu().0);
        qemu.args(arch.board()).args(accelerator.options(arch));
        qemu.args(["-smp", "2", "-m", "4096", "-display", "none", "-monitor", "none"]);
        qemu.arg("-no-reboot").arg("-kernel").arg(image.kernel()).arg("-initrd").arg(image.initrd());
        let line = "root=LABEL=system rw security=apparmor net.ifnames=0 quiet mitigations=off";
        qemu.arg("-append").arg(format!("{line} console={}", arch.console()));
        for disk in [image.disk(), tests] {
            let options = format!("file={},format=raw,if=virtio,cache=unsafe,snapshot=on", disk.display());
            qemu.arg("-drive").arg(options);
        }
        qemu.arg("-netdev").arg(format!("user,id=net,hostfwd=tcp:127.0.0.1:{port}-:22"));
        qemu.args(["-device", "virtio-net-pci,netdev=net", "-device", "virtio-rng-pci"]);
        qemu.arg("-serial").arg(format!("file:{}", console(image).display()));
        let qemu = qemu.stdin(Stdio::null()).spawn().context("cannot start qemu")?;
        let mut machine = Self { qemu, port, key: image.key() };
        machine.await_login()?;
        Ok(machine)
    }

    /// System, kernel and engines with their versions.
    pub(super) fn description(&self) -> Result<String> {
        Ok(cargo::output(&mut self.shell("root", DESCRIBE))?.trim().to_owned())
    }

    /// Runs a line of shell. Its output is printed, and returned with its success.
    pub(super) fn run(&self, login: &str, script: &str) -> Result<(String, bool)> {
        let mut ssh = self.shell(login, script).stdout(Stdio::piped()).spawn().context("cannot start ssh")?;
        let mut text = String::new();
        let mut lines = BufReader::new(ssh.stdout.take().context("ssh has no output")?);
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line)? > 0 {
            let printed = String::from_utf8_lossy(&line);
            print!("{printed}");
            text.push_str(&printed);
            line.clear();
        }
        Ok((text, ssh.wait()?.success()))
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
                bail!("no login succeeded within {} s; the console's last lines show why", BOOT.as_secs());
            }
            std::thread::sleep(Duration::from_secs(1));
        }
    }

    /// Each command has its own login, so that its session is a real one.
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
        // Its disks are snapshots: its writes are discarded.
        let _ = self.qemu.kill();
        let _ = self.qemu.wait();
    }
}

fn console(image: &Image) -> PathBuf {
    Path::new(image.directory()).join("console.log")
}

/// Another process may take the port before qemu does; then qemu reports it.
fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
