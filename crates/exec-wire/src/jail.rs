//! The plan that the keeper of a local cell carries out around PID 1.
//!
//! The host decides (a pure translation of the caller's options). The keeper carries the plan out in order,
//! and fails at the first step that can't be done. Paths are canonical: the keeper refuses to follow a link.

use crate::WireError;
use crate::codec::{Field, Input, Result, byte_enum, put_list, struct_fields, take_list};

/// A local cell.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct JailSpec {
    /// What separates the commands from the host.
    pub walls: Walls,
    /// The identity of the commands.
    pub identity: Identity,
    /// Limits for control groups, if those can be written.
    pub cgroup: CgroupPlan,
    /// The second fence, inside the walls.
    pub landlock: Option<LandlockPlan>,
    /// The mark that the audit log has been checked for lost runs, or empty. It is removed together with the
    /// record of a run, because that run then has no end in the log.
    pub log_note: Vec<u8>,
    /// Records of this cell; files that begin with such a name and a dot are records of its runs. The host
    /// removes them; if the host is dead, the keeper does.
    pub records: Vec<Vec<u8>>,
}
struct_fields!(JailSpec { walls, identity, cgroup, landlock, log_note } lists { records });

/// What separates the commands from the host.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Walls {
    /// Namespaces and a private file system.
    Namespaces(Namespaces),
    /// Only a supervisor that inherits every orphan.
    Subreaper {
        /// A directory that the keeper makes and removes at the end. It is the commands' home and temporary
        /// directory: without a mount namespace they can't have private ones at the usual places.
        scratch: Vec<u8>,
    },
}

impl Field for Walls {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Subreaper { scratch } => {
                0u8.put(out);
                scratch.put(out);
            }
            Self::Namespaces(namespaces) => {
                1u8.put(out);
                namespaces.put(out);
            }
        }
    }

    fn take(input: &mut Input<'_>) -> Result<Self> {
        match input.take::<u8>()? {
            0 => Ok(Self::Subreaper { scratch: input.take()? }),
            1 => Ok(Self::Namespaces(input.take()?)),
            _ => Err(WireError::BadValue("walls")),
        }
    }
}

/// The namespaces of a cell; user, PID, mount, IPC, UTS and cgroup namespaces are always new.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Namespaces {
    /// The user ids that exist inside.
    pub ids: IdMap,
    /// The network inside.
    pub network: NetworkWall,
    /// The cell's host name.
    pub hostname: String,
    /// The file system, built in this order on an empty root that becomes read-only at the end.
    pub mounts: Vec<Mount>,
}
struct_fields!(Namespaces { ids, network, hostname } lists { mounts });

/// The user and group ids that exist inside a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IdMap {
    /// Only the caller's own, which is all that an ordinary user may map.
    Caller,
    /// All of the host's, unchanged: files keep their owners. Requires root.
    All,
}
byte_enum!(IdMap, "id map", { Caller = 0, All = 1 });

/// The network inside a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NetworkWall {
    /// A private loopback interface.
    Isolated,
    /// The host's.
    Host,
}
byte_enum!(NetworkWall, "network", { Isolated = 0, Host = 1 });

/// The identity of the commands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Identity {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
    /// Supplementary groups; set only if the keeper may.
    pub groups: Vec<u32>,
}
struct_fields!(Identity { uid, gid } lists { groups });

/// Read or write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Read only.
    Read,
    /// Read and write.
    Write,
}
byte_enum!(Access, "access", { Read = 0, Write = 1 });

/// What to do if a mount's source is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Missing {
    /// The cell can't be made.
    Fail,
    /// Continue without it.
    Skip,
}
byte_enum!(Missing, "missing", { Fail = 0, Skip = 1 });

/// The identity of a file at the time it was checked; the keeper refuses anything else at that path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileId {
    /// Device number.
    pub dev: u64,
    /// Inode number.
    pub ino: u64,
    /// When it was made, in nanoseconds, or 0 if unknown: inode numbers are reused.
    pub born: u64,
}
struct_fields!(FileId { dev, ino, born } lists {});

/// One step in building the cell's file system. Targets are absolute paths inside; missing parents are made.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Mount {
    /// A host file or directory, with everything mounted below it.
    Bind {
        /// Canonical host path.
        source: Vec<u8>,
        /// Its path inside.
        target: Vec<u8>,
        /// The permitted access.
        access: Access,
        /// The required identity of the source.
        expect: Option<FileId>,
        /// What to do if it is missing.
        missing: Missing,
    },
    /// An empty file system in memory.
    Tmpfs {
        /// Its path.
        target: Vec<u8>,
        /// Its size limit in bytes.
        size: u64,
        /// Mode of its root directory; owned by the cell's identity.
        mode: u32,
    },
    /// The cell's own `/proc`, dangerous parts read-only or masked.
    Proc,
    /// A minimal `/dev`: null, zero, full, random, urandom, tty, pts, shm, fd and the standard streams' names.
    Dev {
        /// The size limit of `/dev/shm` in bytes.
        shm_size: u64,
    },
    /// An empty directory, or an empty unreadable file, over a path that must be hidden. Skipped if the path
    /// is missing.
    Mask {
        /// The path to cover.
        target: Vec<u8>,
    },
    /// A symbolic link.
    Symlink {
        /// The path of the link.
        target: Vec<u8>,
        /// The target of the link.
        to: Vec<u8>,
    },
    /// A small file in the root file system, in place of a host file that can't be shown unchanged.
    File {
        /// Its path.
        target: Vec<u8>,
        /// Its contents.
        contents: Vec<u8>,
    },
}

impl Field for Mount {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Bind { source, target, access, expect, missing } => {
                0u8.put(out);
                source.put(out);
                target.put(out);
                access.put(out);
                expect.put(out);
                missing.put(out);
            }
            Self::Tmpfs { target, size, mode } => {
                1u8.put(out);
                target.put(out);
                size.put(out);
                mode.put(out);
            }
            Self::Proc => 2u8.put(out),
            Self::Dev { shm_size } => {
                3u8.put(out);
                shm_size.put(out);
            }
            Self::Mask { target } => {
                4u8.put(out);
                target.put(out);
            }
            Self::Symlink { target, to } => {
                5u8.put(out);
                target.put(out);
                to.put(out);
            }
            Self::File { target, contents } => {
                6u8.put(out);
                target.put(out);
                contents.put(out);
            }
        }
    }

    fn take(input: &mut Input<'_>) -> Result<Self> {
        Ok(match input.take::<u8>()? {
            0 => Self::Bind {
                source: input.take()?,
                target: input.take()?,
                access: input.take()?,
                expect: input.take()?,
                missing: input.take()?,
            },
            1 => Self::Tmpfs { target: input.take()?, size: input.take()?, mode: input.take()? },
            2 => Self::Proc,
            3 => Self::Dev { shm_size: input.take()? },
            4 => Self::Mask { target: input.take()? },
            5 => Self::Symlink { target: input.take()?, to: input.take()? },
            6 => Self::File { target: input.take()?, contents: input.take()? },
            _ => return Err(WireError::BadValue("mount")),
        })
    }
}

/// Limits for the cell as a whole. The keeper sets what it can and reports the rest in the cell's facts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CgroupPlan {
    /// Name of the groups to make, unique to the cell, without a slash.
    pub name: String,
    /// Bytes of memory, swap included.
    pub memory: Option<u64>,
    /// Processes and threads of the commands.
    pub pids: Option<u64>,
    /// Thousandths of a CPU.
    pub cpu_milli: Option<u64>,
}
struct_fields!(CgroupPlan { name, memory, pids, cpu_milli } lists {});

/// The access that Landlock still allows. Paths that do not exist inside the cell are skipped.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LandlockPlan {
    /// Deny TCP connections and listening (on kernels with that feature).
    pub deny_tcp: bool,
    /// Readable and executable, with everything below.
    pub read: Vec<Vec<u8>>,
    /// Writable too.
    pub write: Vec<Vec<u8>>,
}

impl Field for LandlockPlan {
    fn put(&self, out: &mut Vec<u8>) {
        self.deny_tcp.put(out);
        put_list(&self.read, out);
        put_list(&self.write, out);
    }

    fn take(input: &mut Input<'_>) -> Result<Self> {
        Ok(Self { deny_tcp: input.take()?, read: take_list(input)?, write: take_list(input)? })
    }
}
