//! The program `exec-init`, carried inside the host's own binary.
//!
//! A cell needs `exec-init` as its PID 1, whatever image it runs. The build script of this package builds the
//! program as one static file and this library embeds it, so that nothing has to be installed: the host puts
//! the bytes where the cell can execute them. On Linux, `Executable` does so for this machine.
//!
//! A release carries a program for every architecture whose musl target was installed when it was built; any
//! other build carries only the one for its own architecture. Without the `embed` feature there is none.
//!
//! ```
//! match exec_init::native() {
//!     Some(program) => assert!(program.bytes.starts_with(b"\x7fELF")),
//!     None => assert!(!(cfg!(target_os = "linux") && cfg!(feature = "embed"))),
//! }
//! ```

use std::fmt;

#[cfg(all(target_os = "linux", feature = "embed"))]
mod executable;

#[cfg(all(target_os = "linux", feature = "embed"))]
pub use executable::Executable;

/// A processor architecture that a program can be built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Arch {
    /// 64-bit x86: engines call it `amd64`.
    X86_64,
    /// 64-bit ARM: engines call it `arm64`.
    Aarch64,
}

impl Arch {
    /// The architecture by any of the names that engines, compilers and `uname` use.
    ///
    /// ```
    /// # use exec_init::Arch;
    /// assert_eq!(Arch::from_name("amd64"), Some(Arch::X86_64));
    /// assert_eq!(Arch::from_name("aarch64"), Some(Arch::Aarch64));
    /// assert_eq!(Arch::from_name("riscv64"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "x86_64" | "amd64" | "x86-64" => Some(Self::X86_64),
            "aarch64" | "arm64" => Some(Self::Aarch64),
            _ => None,
        }
    }

    /// The architecture this library was built for.
    pub fn native() -> Option<Self> {
        Self::from_name(std::env::consts::ARCH)
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::X86_64 => "x86_64",
            Self::Aarch64 => "aarch64",
        })
    }
}

/// An embedded program.
#[derive(Clone, Copy)]
pub struct Program {
    /// The architecture it runs on.
    pub arch: Arch,
    /// The compiler target it was built for, such as `x86_64-unknown-linux-musl`.
    pub target: &'static str,
    /// The file: a static ELF executable.
    pub bytes: &'static [u8],
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program")
            .field("arch", &self.arch)
            .field("target", &self.target)
            .field("bytes", &self.bytes.len())
            .finish()
    }
}

/// The version of the embedded program, and of this library.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The programs that this build carries.
static PROGRAMS: &[Program] = include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// The program for an architecture, if this build carries one.
pub fn for_arch(arch: Arch) -> Option<Program> {
    PROGRAMS.iter().find(|program| program.arch == arch).copied()
}

/// The program for the architecture this library was built for.
pub fn native() -> Option<Program> {
    for_arch(Arch::native()?)
}

#[cfg(test)]
#[cfg(all(target_os = "linux", feature = "embed"))]
mod tests {
    use super::*;

    /// Type of an ELF program header that names a dynamic loader.
    const PT_INTERP: u32 = 3;

    fn number<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
        *bytes[at..].first_chunk().unwrap()
    }

    #[test]
    fn every_program_is_static_and_of_its_architecture() {
        assert!(native().is_some());
        for Program { arch, bytes, .. } in PROGRAMS {
            assert!(bytes.starts_with(b"\x7fELF\x02\x01"));
            let machine = u16::from_le_bytes(number(bytes, 18));
            let expected = match arch {
                Arch::X86_64 => 62,
                Arch::Aarch64 => 183,
            };
            assert_eq!(machine, expected);
            let table = u64::from_le_bytes(number(bytes, 32)) as usize;
            let size = usize::from(u16::from_le_bytes(number(bytes, 54)));
            let count = usize::from(u16::from_le_bytes(number(bytes, 56)));
            let kinds = (0..count).map(|index| u32::from_le_bytes(number(bytes, table + index * size)));
            assert!(kinds.into_iter().all(|kind| kind != PT_INTERP), "{arch}: a dynamic loader is needed");
        }
    }
}
