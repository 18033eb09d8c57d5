//! Whether the processor can run the virtual machine itself. That the device is there says little: in a machine that is
//! virtual already, the guest may never start.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Result;

/// How the guest's instructions are carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Accelerator {
    Kvm,
    /// Translated, and much slower.
    Emulation,
}

/// How long a kernel takes to its first line.
const FIRST_LINE: Duration = Duration::from_secs(8);

impl Accelerator {
    /// Starts this kernel for a moment to see whether it says anything.
    pub(super) fn find(kernel: &Path) -> Result<Self> {
        if !Path::new("/dev/kvm").exists() {
            return Ok(Self::Emulation);
        }
        let place = tempfile::tempdir()?;
        let serial = place.path().join("serial");
        let mut qemu = Command::new("qemu-system-x86_64");
        qemu.args(Self::Kvm.options()).args([
            "-m",
            "512",
            "-display",
            "none",
            "-monitor",
            "none",
            "-no-reboot",
        ]);
        qemu.arg("-kernel").arg(kernel).args(["-append", "console=ttyS0 panic=-1"]);
        qemu.arg("-serial").arg(format!("file:{}", serial.display()));
        let mut child = qemu.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let end = Instant::now() + FIRST_LINE;
        let says = || std::fs::metadata(&serial).is_ok_and(|file| file.len() > 0);
        while !says() && Instant::now() < end && child.try_wait()?.is_none() {
            std::thread::sleep(Duration::from_millis(50));
        }
        let works = says();
        let _ = child.kill();
        child.wait()?;
        Ok(if works { Self::Kvm } else { Self::Emulation })
    }

    /// The options of qemu for it.
    pub(super) fn options(self) -> [&'static str; 6] {
        match self {
            Self::Kvm => ["-M", "pc", "-accel", "kvm", "-cpu", "host"],
            Self::Emulation => ["-M", "pc", "-accel", "tcg,thread=multi,tb-size=1024", "-cpu", "max"],
        }
    }
}
