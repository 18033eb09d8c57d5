//! System calls that the filter forbids, tried by this very test program: run in the cell, and outside as control.
#![expect(unsafe_code, reason = "raw system calls are what is tried")]

use std::collections::BTreeMap;
use std::process::Command;

use exec_wire::{Access, Mount};

use crate::cell::Cell;
use crate::spec::{Role, Stage, bind};

/// Name, number, arguments. None has a lasting effect when it is allowed.
fn rows() -> Vec<(&'static str, libc::c_long, [libc::c_long; 4])> {
    let null = 0;
    vec![
        ("io_uring_setup", libc::SYS_io_uring_setup, [1, null, 0, 0]),
        ("userfaultfd", libc::SYS_userfaultfd, [1, 0, 0, 0]),
        ("keyctl", libc::SYS_keyctl, [0, -3, 0, 0]),
        ("add_key", libc::SYS_add_key, [null, null, 0, 0]),
        ("bpf", libc::SYS_bpf, [0, null, 0, 0]),
        ("perf_event_open", libc::SYS_perf_event_open, [null, 0, -1, -1]),
        ("open_by_handle_at", libc::SYS_open_by_handle_at, [-1, null, 0, 0]),
        ("socket AF_VSOCK", libc::SYS_socket, [libc::AF_VSOCK.into(), libc::SOCK_STREAM.into(), 0, 0]),
        ("socket AF_PACKET", libc::SYS_socket, [libc::AF_PACKET.into(), libc::SOCK_RAW.into(), 0, 0]),
        ("socket AF_ALG", libc::SYS_socket, [libc::AF_ALG.into(), libc::SOCK_SEQPACKET.into(), 0, 0]),
        ("unshare user", libc::SYS_unshare, [libc::CLONE_NEWUSER.into(), 0, 0, 0]),
        ("unshare net", libc::SYS_unshare, [libc::CLONE_NEWNET.into(), 0, 0, 0]),
        ("setns", libc::SYS_setns, [-1, 0, 0, 0]),
        ("clone3", libc::SYS_clone3, [null, 0, 0, 0]),
        ("mount", libc::SYS_mount, [null, null, null, 0]),
        ("fsopen", libc::SYS_fsopen, [null, 0, 0, 0]),
        ("open_tree", libc::SYS_open_tree, [-1, null, 0, 0]),
        ("ioctl TIOCSTI", libc::SYS_ioctl, [-1, libc::TIOCSTI as libc::c_long, null, 0]),
        ("syslog", libc::SYS_syslog, [10, null, 0, 0]),
    ]
}

/// Not a test: the other tests run this, inside and outside.
#[test]
#[ignore = "the probe program, run by the other tests"]
fn try_every_call() {
    for (name, number, [a, b, c, d]) in rows() {
        // SAFETY: every row passes null pointers and small numbers; a bad address is an error, not a fault.
        let result = unsafe { libc::syscall(number, a, b, c, d) };
        let errno = if result < 0 { std::io::Error::last_os_error().raw_os_error().unwrap_or(0) } else { 0 };
        println!("call {name}={errno}");
    }
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: asks only for the process id, through the other calling convention of this architecture.
        let result = unsafe { libc::syscall(0x4000_0000 + libc::SYS_getpid) };
        let errno = if result < 0 { std::io::Error::last_os_error().raw_os_error().unwrap_or(0) } else { 0 };
        println!("call x32 getpid={errno}");
    }
}

const ARGUMENTS: [&str; 4] = ["probe::try_every_call", "--exact", "--ignored", "--nocapture"];

fn parse(output: &str) -> BTreeMap<String, i32> {
    let calls = output.lines().filter_map(|line| line.split_once("call ")?.1.split_once('='));
    calls.map(|(name, errno)| (name.to_owned(), errno.trim().parse().unwrap())).collect()
}

/// A28
#[test]
fn dangerous_calls_are_refused() {
    let exe = std::env::current_exe().unwrap();
    let control = Command::new(&exe).args(ARGUMENTS).output().unwrap();
    let control = parse(&String::from_utf8_lossy(&control.stdout));
    let refused = |errno: i32| errno == libc::EPERM || errno == libc::ENOSYS;
    assert!(rows().len() <= control.len(), "{control:?}");
    for role in Role::all() {
        let stage = Stage::new(role);
        let copy = stage.path("probe");
        std::fs::copy(&exe, &copy).unwrap();
        let mut mounts: Vec<Mount> = stage.mounts();
        mounts.push(bind(&copy, "/probe", Access::Read));
        let cell = Cell::start(role, stage.walled(mounts)).unwrap();
        let outcome = cell.sh(&format!("exec /probe {}", ARGUMENTS.join(" ")));
        let found = parse(&outcome.output);
        assert_eq!(found.len(), control.len(), "{outcome:?}");
        for (name, errno) in &found {
            assert!(refused(*errno), "{role:?}: {name}: {errno}");
        }
        let shown = found.iter().filter(|(name, _)| !refused(control[*name])).count();
        assert!(shown * 2 > found.len() || role == Role::User, "the control shows too little: {control:?}");
    }
}
