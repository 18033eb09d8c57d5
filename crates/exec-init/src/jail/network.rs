//! Brings up the loopback interface of a new network namespace.
#![expect(unsafe_code, reason = "interface ioctls have no safe wrapper")]

use std::os::fd::AsRawFd;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

use super::fail::Fail;

/// Brings `lo` up; the kernel assigns its addresses.
pub(super) fn raise_loopback() -> Result<(), Fail> {
    raise(b"lo").map_err(|why| Fail::wall("bring up", "the loopback interface", why))
}

fn raise(name: &[u8]) -> Result<(), Errno> {
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    // SAFETY: the structure is bytes, numbers and pointers that are not followed here; all zeros is valid for
    // each.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name) {
        *to = *from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: the kernel reads one `ifreq` behind the pointer, which lives across the call.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS as _, &raw const request) };
    if result == 0 { Ok(()) } else { Err(super::spawn::last_error()) }
}
