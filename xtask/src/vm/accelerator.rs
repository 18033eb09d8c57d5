//! Whether the processor can run the virtual machine itself. The device alone proves little: inside another
//! virtual machine, the guest may never start.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::args::Arch;

/// How the guest's instructions are executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Accelerator {
    Kvm,
    /// Translated, and much slower.
    Emulation,
}

/// How long a kernel takes to its first line.
const FIRST_LINE: Duration = Duration::from_secs(8);

impl Accelerator {
    /// Starts this kernel briefly to see whether it prints anything.
    pub(super) fn find(arch: Arch, kernel: &Path) -> Result<Self> {
        if !arch.is_native() || !Path::new("/dev/kvm").exists() {
            return Ok(Self::Emulation);
        }
        let place = tempfile::tempdir()?;
        let serial = place.path().join("serial");
        let mut qemu = Command::new(arch.qemu().0);
        qemu.args(arch.board()).args(Self::Kvm.options(arch)).args(["-m", "512"]);
        qemu.args(["-display", "none", "-monitor", "none", "-no-reboot"]);
        let line = format!("console={} panic=-1", arch.console());
        qemu.arg("-kernel").arg(kernel).args(["-append", &line]);
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
    pub(super) fn options(self, arch: Arch) -> [&'static str; 4] {
        match self {
            Self::Kvm => ["-accel", "kvm", "-cpu", "host"],
            Self::Emulation => ["-accel", "tcg,thread=multi,tb-size=1024", "-cpu", arch.emulated()],
        }
    }
}
