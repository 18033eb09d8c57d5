//! The filter, run by a small interpreter and by the kernel.

use super::bpf::Instruction;
use super::syscalls::{COMMON, PARTICULAR};
use super::{Fence, seccomp};
use crate::sys::{self, Fork};
use exec_wire::Subject;

const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
const EPERM: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
const ENOSYS: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;

#[cfg(target_arch = "x86_64")]
const NATIVE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const NATIVE: u32 = 0xc000_00b7;
const I386: u32 = 0x4000_0003;
const ARM: u32 = 0x4000_0028;

/// The answer, and the number of instructions it took.
fn interpret(program: &[Instruction], architecture: u32, number: u32, arguments: [u64; 6]) -> (u32, usize) {
    let mut data = vec![];
    data.extend(number.to_ne_bytes());
    data.extend(architecture.to_ne_bytes());
    data.extend(0u64.to_ne_bytes());
    data.extend(arguments.iter().flat_map(|argument| argument.to_ne_bytes()));
    let (mut at, mut loaded, mut steps) = (0, 0, 0);
    loop {
        let Instruction { code, jt, jf, k } = program[at];
        at += 1;
        steps += 1;
        let jump = |taken: bool| usize::from(if taken { jt } else { jf });
        match u32::from(code) {
            0x20 => loaded = u32::from_ne_bytes(data[k as usize..k as usize + 4].try_into().unwrap()),
            0x05 => at += k as usize,
            0x15 => at += jump(loaded == k),
            0x35 => at += jump(loaded >= k),
            0x45 => at += jump(loaded & k != 0),
            0x06 => return (k, steps),
            other => panic!("instruction {other:#x}"),
        }
    }
}

fn answer(number: libc::c_long, arguments: [u64; 6]) -> u32 {
    interpret(&seccomp::program().unwrap(), NATIVE, number as u32, arguments).0
}

fn first(argument: libc::c_int) -> [u64; 6] {
    [argument as u64, 0, 0, 0, 0, 0]
}

fn second(argument: u32) -> [u64; 6] {
    [3, argument.into(), 0, 0, 0, 0]
}

#[test]
fn every_row() {
    let high_bits = |argument: u32| [3, u64::from(argument) | 0xdead_0000_0000_0000, 0, 0, 0, 0];
    let thread =
        libc::CLONE_VM | libc::CLONE_FS | libc::CLONE_FILES | libc::CLONE_SIGHAND | libc::CLONE_THREAD;
    let rows = [
        (libc::SYS_read, [0; 6], ALLOW),
        (libc::SYS_execve, [0; 6], ALLOW),
        (libc::SYS_ptrace, [0; 6], ALLOW),
        (libc::SYS_process_vm_writev, [0; 6], ALLOW),
        (libc::SYS_seccomp, [0; 6], ALLOW),
        (libc::SYS_landlock_restrict_self, [0; 6], ALLOW),
        (libc::SYS_io_uring_setup, [0; 6], ENOSYS),
        (libc::SYS_io_uring_enter, [0; 6], ENOSYS),
        (libc::SYS_io_uring_register, [0; 6], ENOSYS),
        (libc::SYS_clone3, [0; 6], ENOSYS),
        (libc::SYS_clone, first(libc::SIGCHLD), ALLOW),
        (libc::SYS_clone, first(thread), ALLOW),
        (libc::SYS_clone, first(libc::CLONE_NEWUSER | libc::SIGCHLD), EPERM),
        (libc::SYS_clone, first(libc::CLONE_NEWNET | libc::SIGCHLD), EPERM),
        (libc::SYS_unshare, first(libc::CLONE_FILES), ALLOW),
        (libc::SYS_unshare, first(libc::CLONE_NEWUSER), EPERM),
        (libc::SYS_unshare, first(libc::CLONE_NEWNS | libc::CLONE_FS), EPERM),
        (libc::SYS_unshare, first(0x80), EPERM),
        (libc::SYS_setns, [0; 6], EPERM),
        (libc::SYS_socket, first(libc::AF_UNIX), ALLOW),
        (libc::SYS_socket, first(libc::AF_INET), ALLOW),
        (libc::SYS_socket, first(libc::AF_INET6), ALLOW),
        (libc::SYS_socket, first(libc::AF_NETLINK), ALLOW),
        (libc::SYS_socket, first(libc::AF_VSOCK), EPERM),
        (libc::SYS_socket, first(libc::AF_ALG), EPERM),
        (libc::SYS_socket, first(libc::AF_PACKET), EPERM),
        (libc::SYS_socket, first(libc::AF_XDP), EPERM),
        (libc::SYS_ioctl, second(libc::TCGETS as u32), ALLOW),
        (libc::SYS_ioctl, second(libc::TIOCSTI as u32), EPERM),
        (libc::SYS_ioctl, second(libc::TIOCLINUX as u32), EPERM),
        (libc::SYS_ioctl, high_bits(libc::TIOCSTI as u32), EPERM),
        (libc::SYS_mount, [0; 6], EPERM),
        (libc::SYS_keyctl, [0; 6], EPERM),
        (libc::SYS_bpf, [0; 6], EPERM),
        (libc::SYS_open_by_handle_at, [0; 6], EPERM),
    ];
    for (number, arguments, expected) in rows {
        assert_eq!(answer(number, arguments), expected, "{number} {arguments:x?}");
    }
}

#[test]
fn every_rule_is_found_and_nothing_else() {
    let rules = [COMMON, PARTICULAR].concat();
    let program = seccomp::program().unwrap();
    for number in 0..1024 {
        // Sets every bit that a conditional rule checks; the rule about values is the exception.
        let (found, steps) = interpret(&program, NATIVE, number, [u64::MAX; 6]);
        let listed = rules.iter().find(|rule| rule.call as u32 == number);
        let by_value = [libc::SYS_socket as u32, libc::SYS_ioctl as u32].contains(&number);
        assert_eq!(found != ALLOW, listed.is_some() && !by_value, "{number}");
        assert!(steps <= 24 || by_value, "{number}: {steps}");
    }
    let mut numbers: Vec<_> = rules.iter().map(|rule| rule.call).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), rules.len(), "a call is listed twice");
}

#[test]
fn other_calling_conventions_do_not_exist() {
    let program = seccomp::program().unwrap();
    for architecture in [I386, ARM, 0, NATIVE ^ 1] {
        assert_eq!(interpret(&program, architecture, libc::SYS_read as u32, [0; 6]).0, ENOSYS);
    }
    #[cfg(target_arch = "x86_64")]
    for number in [0x4000_0000, 0x4000_0000 + libc::SYS_read as u32, u32::MAX] {
        assert_eq!(interpret(&program, NATIVE, number, [0; 6]).0, ENOSYS);
    }
}

/// Runs `body` in a forked child and returns its exit code.
fn in_child(body: impl FnOnce() -> i32) -> i32 {
    match sys::fork().unwrap() {
        Fork::Child => sys::exit_now(body()),
        Fork::Parent(pid) => {
            let pid = rustix::process::Pid::from_raw(pid).unwrap();
            let (_, status) =
                rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty()).unwrap().unwrap();
            status.exit_status().unwrap()
        }
    }
}

#[test]
fn the_kernel_takes_the_filter() {
    let unshare = || std::process::Command::new("unshare").args(["--user", "true"]).status();
    assert_eq!(in_child(|| i32::from(!unshare().is_ok_and(|status| status.success()))), 0, "the control");
    let code = in_child(|| {
        let fence: Fence = super::lock_down(None);
        let socket = |family| rustix::net::socket(family, rustix::net::SocketType::STREAM, None);
        let vsock = rustix::net::AddressFamily::from_raw(libc::AF_VSOCK as u16);
        match () {
            () if !fence.no_new_privs || !fence.seccomp || !fence.notes.is_empty() => 2,
            () if socket(vsock).err() != Some(rustix::io::Errno::PERM) => 3,
            () if socket(rustix::net::AddressFamily::INET).is_err() => 4,
            () if rustix::process::dumpable_behavior()
                != Ok(rustix::process::DumpableBehavior::NotDumpable) =>
            {
                5
            }
            () => 0,
        }
    });
    assert_eq!(code, 0);
}

#[test]
fn landlock_allows_what_the_plan_allows_and_no_more() {
    let dir = tempfile::tempdir().unwrap();
    let (read, write) = (dir.path().join("r"), dir.path().join("w"));
    for path in [&read, &write] {
        std::fs::create_dir(path).unwrap();
    }
    std::fs::write(read.join("f"), "x").unwrap();
    let bytes = |path: &std::path::Path| path.as_os_str().as_encoded_bytes().to_vec();
    let plan = exec_wire::LandlockPlan {
        deny_tcp: true,
        read: vec![
            bytes(&read),
            b"/usr".to_vec(),
            b"/lib".to_vec(),
            b"/lib64".to_vec(),
            b"/no/such/path".to_vec(),
        ],
        write: vec![bytes(&write)],
    };
    let code = in_child(|| {
        let fence = super::lock_down(Some(&plan));
        if fence.landlock_abi == 0 {
            return if fence.notes.iter().any(|note| note.about == Subject::Landlock) { 0 } else { 2 };
        }
        if fence.confine_child().is_err() {
            return 3;
        }
        let denied = |result: std::io::Result<()>| {
            result.is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied)
        };
        let tcp = std::net::TcpListener::bind("127.0.0.1:0").map(drop);
        match () {
            () if std::fs::read(read.join("f")).is_err() => 4,
            () if !denied(std::fs::write(read.join("g"), "x")) => 5,
            () if std::fs::write(write.join("a"), "x").is_err() => 6,
            () if std::fs::create_dir(write.join("d")).is_err() => 7,
            () if fence.landlock_abi >= 2 && std::fs::rename(write.join("a"), write.join("d/b")).is_err() => {
                8
            }
            () if std::fs::write("/dev/null", "x").is_err() => 9,
            () if std::fs::read_dir("/").is_ok() => 10,
            () if fence.landlock_abi >= 4 && !denied(tcp) => 11,
            () if !std::process::Command::new("/usr/bin/true")
                .status()
                .is_ok_and(|status| status.success()) =>
            {
                12
            }
            () => 0,
        }
    });
    assert_eq!(code, 0);
}
