//! The system calls denied to commands, as data.
//!
//! Added to the engine's own filter in containers, and alone in local cells. Every entry widens the kernel's
//! attack surface, reaches around namespaces, or is for administration; no build, test or debugger needs one.

use super::bpf::{Answer, Rule, When};

const fn forbid(call: libc::c_long) -> Rule {
    Rule { call, when: When::Called, answer: Answer::NotPermitted }
}

const fn hide(call: libc::c_long) -> Rule {
    Rule { call, when: When::Called, answer: Answer::NoSuchCall }
}

const fn forbid_if(call: libc::c_long, when: When) -> Rule {
    Rule { call, when, answer: Answer::NotPermitted }
}

/// New namespaces of any kind except time, whose bit is part of the exit signal in `clone`.
const NEW_NAMESPACES: u32 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET) as u32;

const NEW_TIME_NAMESPACE: u32 = 0x80;

/// Address families with a history of kernel vulnerabilities, or that reach past a network namespace.
const FAMILIES: &[u32] = &[
    libc::AF_ALG as u32,
    libc::AF_APPLETALK as u32,
    libc::AF_ATMPVC as u32,
    libc::AF_ATMSVC as u32,
    libc::AF_AX25 as u32,
    libc::AF_BLUETOOTH as u32,
    libc::AF_CAIF as u32,
    libc::AF_CAN as u32,
    libc::AF_DECnet as u32,
    libc::AF_IB as u32,
    libc::AF_IEEE802154 as u32,
    libc::AF_IPX as u32,
    libc::AF_IRDA as u32,
    libc::AF_ISDN as u32,
    libc::AF_IUCV as u32,
    libc::AF_KEY as u32,
    libc::AF_LLC as u32,
    libc::AF_MPLS as u32,
    libc::AF_NETROM as u32,
    libc::AF_NFC as u32,
    libc::AF_PACKET as u32,
    libc::AF_PHONET as u32,
    libc::AF_PPPOX as u32,
    libc::AF_RDS as u32,
    libc::AF_ROSE as u32,
    libc::AF_RXRPC as u32,
    libc::AF_TIPC as u32,
    libc::AF_VSOCK as u32,
    libc::AF_WANPIPE as u32,
    libc::AF_X25 as u32,
    AF_SMC,
    AF_QIPCRTR,
    libc::AF_XDP as u32,
];
const AF_QIPCRTR: u32 = 42;
const AF_SMC: u32 = 43;

/// Typing into a shared terminal, and reading from it.
const TERMINAL_TRICKS: &[u32] = &[libc::TIOCSTI as u32, libc::TIOCLINUX as u32];

/// The same number on every architecture; too new for the C library's list.
const SYS_OPEN_TREE_ATTR: libc::c_long = 467;

/// Not in every C library's list.
#[cfg(target_arch = "x86_64")]
const SYS_KEXEC_FILE_LOAD: libc::c_long = 320;
#[cfg(not(target_arch = "x86_64"))]
const SYS_KEXEC_FILE_LOAD: libc::c_long = 294;

/// Calls that every architecture has.
pub(super) const COMMON: &[Rule] = &[
    hide(libc::SYS_io_uring_setup),
    hide(libc::SYS_io_uring_enter),
    hide(libc::SYS_io_uring_register),
    // The flags are in memory, where a filter can't see them: programs fall back to `clone`.
    hide(libc::SYS_clone3),
    forbid_if(libc::SYS_clone, When::AnyBit { argument: 0, bits: NEW_NAMESPACES }),
    forbid_if(libc::SYS_unshare, When::AnyBit { argument: 0, bits: NEW_NAMESPACES | NEW_TIME_NAMESPACE }),
    forbid_if(libc::SYS_socket, When::OneOf { argument: 0, values: FAMILIES }),
    forbid_if(libc::SYS_ioctl, When::OneOf { argument: 1, values: TERMINAL_TRICKS }),
    forbid(libc::SYS_setns),
    forbid(libc::SYS_userfaultfd),
    forbid(libc::SYS_keyctl),
    forbid(libc::SYS_add_key),
    forbid(libc::SYS_request_key),
    forbid(libc::SYS_bpf),
    forbid(libc::SYS_perf_event_open),
    forbid(libc::SYS_open_by_handle_at),
    forbid(libc::SYS_mount),
    forbid(libc::SYS_umount2),
    forbid(libc::SYS_pivot_root),
    forbid(libc::SYS_fsopen),
    forbid(libc::SYS_fsconfig),
    forbid(libc::SYS_fsmount),
    forbid(libc::SYS_fspick),
    forbid(libc::SYS_move_mount),
    forbid(libc::SYS_open_tree),
    forbid(SYS_OPEN_TREE_ATTR),
    forbid(libc::SYS_mount_setattr),
    forbid(libc::SYS_swapon),
    forbid(libc::SYS_swapoff),
    forbid(libc::SYS_reboot),
    forbid(libc::SYS_kexec_load),
    forbid(SYS_KEXEC_FILE_LOAD),
    forbid(libc::SYS_init_module),
    forbid(libc::SYS_finit_module),
    forbid(libc::SYS_delete_module),
    forbid(libc::SYS_acct),
    forbid(libc::SYS_quotactl),
    forbid(libc::SYS_quotactl_fd),
    forbid(libc::SYS_syslog),
];

/// Calls that only this architecture has.
#[cfg(target_arch = "x86_64")]
pub(super) const PARTICULAR: &[Rule] = &[
    forbid(libc::SYS_iopl),
    forbid(libc::SYS_ioperm),
    forbid(libc::SYS__sysctl),
    forbid(libc::SYS_uselib),
    forbid(libc::SYS_nfsservctl),
];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const PARTICULAR: &[Rule] = &[];
