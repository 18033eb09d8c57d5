//! `syscall NAME`: tries one system call that a cell refuses, and prints `ok`, `errno NAME` or `signal NUMBER`.
//!
//! Each attempt is harmless if it succeeds, and runs in a child because some filters kill.

use std::ffi::c_int;

use crate::command::{Args, misuse};
use crate::sys::{self, Fork, Result};

type Attempt = fn() -> Result<()>;

const ATTEMPTS: &[(&str, Attempt)] = &[
    ("add_key", add_key),
    ("bpf", bpf),
    ("chroot", chroot),
    ("clone-user", clone_user),
    ("clone3-user", clone3_user),
    ("int80", int80),
    ("io_uring_setup", io_uring_setup),
    ("keyctl", keyctl),
    ("mknod", mknod),
    ("mount-tmpfs", mount_tmpfs),
    ("open_by_handle_at", open_by_handle_at),
    ("perf_event_open", perf_event_open),
    ("ptrace-parent", ptrace_parent),
    ("remount-root", remount_root),
    ("setns", setns),
    ("socket-alg", || socket(libc::AF_ALG, libc::SOCK_SEQPACKET, 0)),
    ("socket-packet", || socket(libc::AF_PACKET, libc::SOCK_RAW, 0)),
    ("socket-vsock", || socket(libc::AF_VSOCK, libc::SOCK_STREAM, 0)),
    ("tiocsti", tiocsti),
    ("unshare-user", unshare_user),
    ("userfaultfd", userfaultfd),
    ("x32", x32),
];

pub(crate) fn run(args: &Args<'_>) -> Result<()> {
    let name = args.text(0);
    let Some((_, attempt)) = ATTEMPTS.iter().find(|(known, _)| *known == name) else {
        misuse(&format!("unknown attempt `{name}`"));
    };
    match sys::fork()? {
        Fork::Child => {
            let said = match attempt() {
                Ok(()) => sys::say("ok"),
                Err(errno) => sys::say(&format!("errno {}", errno.name())),
            };
            sys::exit(i32::from(said.is_err()));
        }
        Fork::Parent { child } => {
            let status = sys::wait(child)?;
            if libc::WIFSIGNALED(status) {
                return sys::say(&format!("signal {}", libc::WTERMSIG(status)));
            }
            Ok(())
        }
    }
}

fn address_of<T>(value: &T) -> usize {
    std::ptr::from_ref(value).addr()
}

fn io_uring_setup() -> Result<()> {
    // An `io_uring_params` is 120 bytes, all zero by default.
    let params = [0_u64; 15];
    sys::call(libc::SYS_io_uring_setup, [1, address_of(&params), 0, 0, 0]).map(drop)
}

fn userfaultfd() -> Result<()> {
    sys::call(libc::SYS_userfaultfd, [libc::O_CLOEXEC as usize, 0, 0, 0, 0]).map(drop)
}

fn keyctl() -> Result<()> {
    const GET_KEYRING_ID: usize = 0;
    const SESSION_KEYRING: usize = -3_isize as usize;
    sys::call(libc::SYS_keyctl, [GET_KEYRING_ID, SESSION_KEYRING, 1, 0, 0]).map(drop)
}

fn add_key() -> Result<()> {
    const PROCESS_KEYRING: usize = -2_isize as usize;
    let (kind, name) = (c"user", c"exec-probe");
    let args = [kind.as_ptr().addr(), name.as_ptr().addr(), name.as_ptr().addr(), 1, PROCESS_KEYRING];
    sys::call(libc::SYS_add_key, args).map(drop)
}

/// Makes an array map of one entry.
fn bpf() -> Result<()> {
    const MAP_CREATE: usize = 0;
    let attributes: [u32; 32] = std::array::from_fn(|index| match index {
        0 => 2,
        1 | 2 => 4,
        3 => 1,
        _ => 0,
    });
    sys::call(libc::SYS_bpf, [MAP_CREATE, address_of(&attributes), size_of_val(&attributes), 0, 0]).map(drop)
}

/// A software counter of this process.
fn perf_event_open() -> Result<()> {
    let mut attributes = [0_u32; 32];
    attributes[0] = 1;
    attributes[1] = size_of_val(&attributes) as u32;
    let any_cpu = -1_isize as usize;
    sys::call(libc::SYS_perf_event_open, [address_of(&attributes), 0, any_cpu, any_cpu, 0]).map(drop)
}

/// Uses a handle of zeros: a caller that may use handles gets `ESTALE`.
fn open_by_handle_at() -> Result<()> {
    let root = std::fs::File::open("/")?;
    let handle: [u32; 8] = [8, 1, 0, 0, 0, 0, 0, 0];
    let fd = std::os::fd::AsRawFd::as_raw_fd(&root) as usize;
    sys::call(libc::SYS_open_by_handle_at, [fd, address_of(&handle), 0, 0, 0]).map(drop)
}

fn unshare_user() -> Result<()> {
    sys::call(libc::SYS_unshare, [libc::CLONE_NEWUSER as usize, 0, 0, 0, 0]).map(drop)
}

fn clone_user() -> Result<()> {
    let flags = (libc::CLONE_NEWUSER | libc::SIGCHLD) as usize;
    reap(sys::call(libc::SYS_clone, [flags, 0, 0, 0, 0])?)
}

fn clone3_user() -> Result<()> {
    let mut arguments = [0_u64; 8];
    arguments[0] = libc::CLONE_NEWUSER as u64;
    arguments[4] = libc::SIGCHLD as u64;
    reap(sys::call(libc::SYS_clone3, [address_of(&arguments), size_of_val(&arguments), 0, 0, 0])?)
}

fn reap(child: libc::c_long) -> Result<()> {
    if child == 0 {
        sys::exit(0);
    }
    sys::wait(child as libc::pid_t).map(drop)
}

fn setns() -> Result<()> {
    let own = std::fs::File::open("/proc/self/ns/net")?;
    let fd = std::os::fd::AsRawFd::as_raw_fd(&own) as usize;
    sys::call(libc::SYS_setns, [fd, 0, 0, 0, 0]).map(drop)
}

fn chroot() -> Result<()> {
    sys::call(libc::SYS_chroot, [c"/".as_ptr().addr(), 0, 0, 0, 0]).map(drop)
}

/// Makes a node with the null device's number, in a writable directory.
fn mknod() -> Result<()> {
    let path = c"probe-device";
    let mode = (libc::S_IFCHR | 0o600) as usize;
    sys::call(libc::SYS_mknodat, [libc::AT_FDCWD as usize, path.as_ptr().addr(), mode, 0x103, 0])?;
    std::fs::remove_file("probe-device").map_err(Into::into)
}

/// Mounts over the working directory.
fn mount_tmpfs() -> Result<()> {
    leave_the_hosts_mounts();
    let (kind, at) = (c"tmpfs", c".");
    sys::call(libc::SYS_mount, [kind.as_ptr().addr(), at.as_ptr().addr(), kind.as_ptr().addr(), 0, 0])
        .map(drop)
}

/// Remounts the root without any restriction.
fn remount_root() -> Result<()> {
    leave_the_hosts_mounts();
    let (none, root) = (c"none", c"/");
    let flags = libc::MS_REMOUNT as usize | libc::MS_BIND as usize;
    sys::call(libc::SYS_mount, [none.as_ptr().addr(), root.as_ptr().addr(), 0, flags, 0]).map(drop)
}

/// Enters a private mount namespace, so that a successful attempt does not change the host. If that is
/// refused, so is the attempt itself.
fn leave_the_hosts_mounts() {
    let private = (libc::MS_REC | libc::MS_PRIVATE) as usize;
    if sys::call(libc::SYS_unshare, [libc::CLONE_NEWNS as usize, 0, 0, 0, 0]).is_ok()
        && sys::call(libc::SYS_mount, [0, c"/".as_ptr().addr(), 0, private, 0]).is_err()
    {
        sys::exit(1);
    }
}

fn ptrace_parent() -> Result<()> {
    let parent = sys::parent();
    // The parent of this attempt is the probe itself; its supervisor is one level up.
    let status = std::fs::read_to_string(format!("/proc/{parent}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("PPid:"));
    let supervisor: usize = line.and_then(|text| text.trim().parse().ok()).unwrap_or(1);
    sys::call(libc::SYS_ptrace, [libc::PTRACE_SEIZE as usize, supervisor, 0, 0, 0]).map(drop)
}

fn tiocsti() -> Result<()> {
    // SAFETY: the call reads one byte.
    sys::check(unsafe { libc::ioctl(sys::STDIN, libc::TIOCSTI, c"x".as_ptr()) }).map(drop)
}

fn socket(family: c_int, kind: c_int, protocol: c_int) -> Result<()> {
    // SAFETY: plain numbers.
    sys::check(unsafe { libc::socket(family, kind, protocol) }).map(drop)
}

/// Calls `getpid` of the 32-bit ABI through its own entry.
#[cfg(target_arch = "x86_64")]
fn int80() -> Result<()> {
    let mut answer: i64 = 20;
    // SAFETY: the call takes no pointers and changes nothing but its result.
    unsafe { std::arch::asm!("int 0x80", inout("rax") answer, options(nostack)) };
    if answer < 0 { Err(crate::errno::Errno(-answer as i32)) } else { Ok(()) }
}

#[cfg(target_arch = "x86_64")]
fn x32() -> Result<()> {
    const X32: libc::c_long = 0x4000_0000;
    sys::call(X32 | libc::SYS_getpid, [0; 5]).map(drop)
}

/// Other architectures have no second entry of that kind.
#[cfg(not(target_arch = "x86_64"))]
fn int80() -> Result<()> {
    Err(crate::errno::Errno(libc::ENOSYS))
}

#[cfg(not(target_arch = "x86_64"))]
fn x32() -> Result<()> {
    Err(crate::errno::Errno(libc::ENOSYS))
}
