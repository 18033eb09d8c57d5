//! Installs the system call filter.
#![expect(unsafe_code, reason = "the seccomp system call has no safe wrapper")]

use rustix::io::Errno;
use rustix::thread::{SecureComputingMode, secure_computing_mode};

use super::bpf::{Instruction, compile};
use super::syscalls::{COMMON, PARTICULAR};

/// The kernel's name of the architecture, and the start of its other calling convention.
#[cfg(target_arch = "x86_64")]
const NATIVE: Option<(u32, Option<u32>)> = Some((0xc000_003e, Some(0x4000_0000)));
#[cfg(target_arch = "aarch64")]
const NATIVE: Option<(u32, Option<u32>)> = Some((0xc000_00b7, None));
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const NATIVE: Option<(u32, Option<u32>)> = None;

/// The filter of this architecture.
pub(super) fn program() -> Option<Vec<Instruction>> {
    let (architecture, foreign_from) = NATIVE?;
    Some(compile(architecture, foreign_from, &[COMMON, PARTICULAR].concat()))
}

/// Installs the filter for this process and every descendant. Requires no-new-privileges.
pub(super) fn install() -> Result<(), Errno> {
    let mut instructions = program().ok_or(Errno::NOSYS)?;
    let len = u16::try_from(instructions.len()).map_err(|_| Errno::INVAL)?;
    let program = libc::sock_fprog { len, filter: instructions.as_mut_ptr() };
    // Older kernels slow a filtered process down to mitigate a processor flaw that the command can only use
    // on itself.
    let flags = libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW;
    // SAFETY: the kernel copies `len` instructions from a vector that lives across the call.
    let result =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program) };
    if result == 0 {
        return Ok(());
    }
    Err(std::io::Error::last_os_error().raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error))
}

/// Whether the kernel filters this process.
pub(super) fn is_on() -> bool {
    matches!(secure_computing_mode(), Ok(SecureComputingMode::Filter))
}
