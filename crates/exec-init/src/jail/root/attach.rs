//! The kernel's mount interface by descriptors, reduced to what a cell needs.
//!
//! Flags are only ever added: inside a user namespace the kernel locks those of inherited mounts.
#![expect(unsafe_code, reason = "mount_setattr has no safe wrapper")]

use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::fs::CWD;
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, fsconfig_create,
    fsconfig_set_string, fsmount, fsopen, move_mount, open_tree,
};

/// Flags of every mount of a cell: no set-user-id programs, no devices.
pub(super) const SAFE: MountAttrFlags =
    MountAttrFlags::MOUNT_ATTR_NOSUID.union(MountAttrFlags::MOUNT_ATTR_NODEV);

/// Flags of mounts that only show devices and kernel files.
pub(super) const NO_PROGRAMS: MountAttrFlags =
    MountAttrFlags::MOUNT_ATTR_NOSUID.union(MountAttrFlags::MOUNT_ATTR_NOEXEC);

/// Read-only.
pub(super) const READ_ONLY: MountAttrFlags = MountAttrFlags::MOUNT_ATTR_RDONLY;

/// Whether to include the mounts below.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    One,
    All,
}

/// A file system being set up.
pub(super) struct NewFs(OwnedFd);

impl NewFs {
    pub(super) fn open(kind: &str) -> Result<Self, Errno> {
        fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC).map(Self)
    }

    /// The kernel treats a size of zero as no limit.
    pub(super) fn tmpfs(size: u64, mode: u32) -> Result<Self, Errno> {
        let fs = Self::open("tmpfs")?.with("size", &size.max(4096).to_string())?;
        fs.with("mode", &format!("{:o}", mode & 0o7777))
    }

    pub(super) fn owner(self, uid: u32, gid: u32) -> Result<Self, Errno> {
        self.with("uid", &uid.to_string())?.with("gid", &gid.to_string())
    }

    pub(super) fn with(self, key: &str, value: &str) -> Result<Self, Errno> {
        fsconfig_set_string(&self.0, key, value)?;
        Ok(self)
    }

    /// A detached mount of it.
    pub(super) fn mount(self, flags: MountAttrFlags) -> Result<OwnedFd, Errno> {
        fsconfig_create(&self.0)?;
        fsmount(&self.0, FsMountFlags::FSMOUNT_CLOEXEC, flags)
    }
}

/// A detached copy of a mount.
pub(super) fn clone_of(dir: impl AsFd, path: &str, depth: Depth) -> Result<OwnedFd, Errno> {
    let mut flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH
        | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
    if depth == Depth::All {
        flags |= OpenTreeFlags::AT_RECURSIVE;
    }
    open_tree(dir, path, flags)
}

/// Puts a mount over a path; an empty path means `dir` itself.
pub(super) fn over(mount: impl AsFd, dir: impl AsFd, path: &str) -> Result<(), Errno> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(mount, "", dir, path, flags)
}

/// Adds restrictions to a mount.
pub(super) fn restrict(mount: impl AsFd, flags: MountAttrFlags, depth: Depth) -> Result<(), Errno> {
    set_attributes(mount, c"", &Attributes { set: u64::from(flags.bits()), ..Attributes::default() }, depth)
}

/// Stops mount propagation between this namespace and the one it was copied from.
pub(super) fn make_private() -> Result<(), Errno> {
    let private = Attributes { propagation: libc::MS_PRIVATE, ..Attributes::default() };
    set_attributes(CWD, c"/", &private, Depth::All)
}

/// The kernel's `struct mount_attr`.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

fn set_attributes(
    dir: impl AsFd,
    path: &std::ffi::CStr,
    what: &Attributes,
    depth: Depth,
) -> Result<(), Errno> {
    let flags = match depth {
        Depth::One => libc::AT_EMPTY_PATH,
        Depth::All => libc::AT_EMPTY_PATH | libc::AT_RECURSIVE,
    };
    let dir = dir.as_fd().as_raw_fd();
    // SAFETY: the path ends with a null byte, and the kernel reads as many bytes of `what` as we say it has.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            dir,
            path.as_ptr(),
            flags,
            std::ptr::from_ref(what),
            size_of::<Attributes>(),
        )
    };
    if result == 0 { Ok(()) } else { Err(crate::jail::spawn::last_error()) }
}
