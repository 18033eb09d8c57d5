//! The programs that this machine needs to make and boot another.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::args::Arch;
use crate::cargo;
use crate::host;

/// Where the kernel learns which program runs the executables of another processor.
const FOREIGN_PROGRAMS: &str = "/proc/sys/fs/binfmt_misc";

/// Installs what is missing.
pub(super) fn install(arch: Arch) -> Result<()> {
    let interpreter = format!("qemu-{}-static", arch.name());
    let mut tools = vec![
        arch.qemu(),
        ("mmdebstrap", "mmdebstrap"),
        ("ssh", "openssh-client"),
        ("mkfs.ext4", "e2fsprogs"),
    ];
    if !arch.is_native() {
        tools.extend([("update-binfmts", "binfmt-support"), (&interpreter, "qemu-user-static")]);
    }
    let missing = tools.iter().filter(|(program, _)| host::system_program(program).is_none());
    let packages: Vec<&str> = missing.map(|(_, package)| *package).collect();
    if !packages.is_empty() {
        cargo::run(Command::new("apt-get").args(["update", "-q"]))?;
        let mut install = Command::new("apt-get");
        install.env("DEBIAN_FRONTEND", "noninteractive");
        install.args(["install", "-y", "-q", "--no-install-recommends"]);
        cargo::run(install.args(packages))?;
    }
    if arch.is_native() { Ok(()) } else { run_foreign_programs(arch) }
}

/// Packages run scripts when they are installed. The emulator is opened now, not by name in the new system.
fn run_foreign_programs(arch: Arch) -> Result<()> {
    if !Path::new(FOREIGN_PROGRAMS).join("register").exists() {
        cargo::run(Command::new("mount").args(["-t", "binfmt_misc", "binfmt_misc", FOREIGN_PROGRAMS]))?;
    }
    let name = format!("qemu-{}", arch.name());
    if !Path::new(FOREIGN_PROGRAMS).join(&name).exists() {
        cargo::run(Command::new("update-binfmts").arg("--enable").arg(&name))?;
    }
    Ok(())
}
