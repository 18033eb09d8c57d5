//! The processor of the virtual machine, and its name in each tool.

use std::env::consts;

use crate::args::Arch;

impl Arch {
    /// Rust's name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::Aarch64 => "aarch64",
        }
    }

    /// Whether this machine has the same processor, and can run its own executables in the guest.
    pub(super) fn is_native(self) -> bool {
        self.name() == consts::ARCH
    }

    /// The target of the executables, if it differs from cargo's default. Static ones run on every
    /// distribution.
    pub(super) fn target(self) -> Option<String> {
        (!self.is_native()).then(|| format!("{}-unknown-linux-musl", self.name()))
    }

    /// Debian's name.
    pub(super) fn debian(self) -> &'static str {
        match self {
            Self::X86_64 => "amd64",
            Self::Aarch64 => "arm64",
        }
    }

    /// The emulator, and its package.
    pub(super) fn qemu(self) -> (&'static str, &'static str) {
        match self {
            Self::X86_64 => ("qemu-system-x86_64", "qemu-system-x86"),
            Self::Aarch64 => ("qemu-system-aarch64", "qemu-system-arm"),
        }
    }

    /// Options of the emulator for the board.
    pub(super) fn board(self) -> [&'static str; 2] {
        match self {
            Self::X86_64 => ["-M", "pc"],
            Self::Aarch64 => ["-M", "virt"],
        }
    }

    /// The emulated processor. Without `pauth-impdef`, most of an emulated `aarch64`'s time goes into signing
    /// pointers.
    pub(super) fn emulated(self) -> &'static str {
        match self {
            Self::X86_64 => "max",
            Self::Aarch64 => "max,pauth-impdef=on",
        }
    }

    /// The kernel's name of the first serial line.
    pub(super) fn console(self) -> &'static str {
        match self {
            Self::X86_64 => "ttyS0",
            Self::Aarch64 => "ttyAMA0",
        }
    }
}
