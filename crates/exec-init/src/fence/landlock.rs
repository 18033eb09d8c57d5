//! The second fence around a command's files, where the first has holes: paths it may read, paths it may
//! write.
//!
//! The rules are made once, by PID 1, and each child puts them on by itself just before it runs its program. They
//! must never forbid what the plan allows.
#![expect(unsafe_code, reason = "the ruleset is put on by descriptor, which the crate has no call for")]

use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use ::landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, PathBeneath, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetError, Scope,
};
use exec_wire::LandlockPlan;
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use rustix::io::Errno;

/// The newest version whose rights we know and have tested; the kernel's may be older.
const KNOWN: ABI = ABI::V6;

/// Devices every program may open under any plan: the harmless ones and its terminal.
const DEVICES: [&str; 8] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
];

/// A ruleset ready to apply.
pub(super) struct Prepared {
    pub(super) abi: u32,
    pub(super) ruleset: OwnedFd,
}

/// Makes the ruleset of a plan, with the rights this kernel knows.
pub(super) fn prepare(plan: &LandlockPlan) -> Result<Prepared, String> {
    let abi = kernel_abi().map_err(|why| format!("not in this kernel, or off: {why}"))?;
    let ruleset = build(plan).map_err(|why| why.to_string())?;
    ruleset
        .map(|ruleset| Prepared { abi, ruleset })
        .ok_or_else(|| "the kernel has none of its rights".to_owned())
}

fn build(plan: &LandlockPlan) -> Result<Option<OwnedFd>, RulesetError> {
    let all = AccessFs::from_all(KNOWN);
    let mut ruleset = Ruleset::default().handle_access(all)?;
    if plan.deny_tcp {
        ruleset = ruleset.handle_access(AccessNet::BindTcp | AccessNet::ConnectTcp)?;
    }
    if !is_init() {
        // Without its own PID namespace, a command could signal its supervisor and the host's processes. With
        // one it can't, and the commands of a session may signal each other.
        ruleset = ruleset.scope(Scope::Signal | Scope::AbstractUnixSocket)?;
    }
    let mut created = ruleset.create()?;
    let device = AccessFs::ReadFile
        | AccessFs::WriteFile
        | AccessFs::ReadDir
        | AccessFs::Truncate
        | AccessFs::IoctlDev;
    let in_plan = plan.write.iter().any(|path| path == b"/dev" || path == b"/");
    let devices = if in_plan { &[][..] } else { &DEVICES[..] };
    let read = plan.read.iter().map(|path| (path.as_slice(), AccessFs::from_read(KNOWN)));
    let write = plan.write.iter().map(|path| (path.as_slice(), all));
    let devices = devices.iter().map(|path| (path.as_bytes(), device));
    for (path, access) in read.chain(write).chain(devices) {
        if let Ok((file, access)) = open_for(path, access) {
            created = created.add_rule(PathBeneath::new(file, access))?;
        }
    }
    Ok(created.into())
}

/// Opens a path only as a reference: neither its permissions nor a device behind it matter. Rights that apply
/// only to directories are left out for anything else.
fn open_for(path: &[u8], access: BitFlags<AccessFs>) -> Result<(OwnedFd, BitFlags<AccessFs>), Errno> {
    let file = open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let access = match FileType::from_raw_mode(fstat(&file)?.st_mode) {
        FileType::Directory => access,
        _ => access & AccessFs::from_file(KNOWN),
    };
    Ok((file, access))
}

fn is_init() -> bool {
    rustix::process::getpid().is_init()
}

/// The Landlock version of the running kernel.
fn kernel_abi() -> Result<u32, Errno> {
    const VERSION: u32 = 1;
    // SAFETY: with this flag the kernel takes no structure and makes no descriptor.
    let abi = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<libc::c_void>(), 0usize, VERSION)
    };
    u32::try_from(abi).map_err(|_| last_error())
}

/// Applies a ruleset irrevocably.
pub(super) fn restrict_self(ruleset: BorrowedFd<'_>) -> Result<(), Errno> {
    // SAFETY: takes numbers only.
    let result = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0u32) };
    if result == 0 { Ok(()) } else { Err(last_error()) }
}

fn last_error() -> Errno {
    std::io::Error::last_os_error().raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error)
}
