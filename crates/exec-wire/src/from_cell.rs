//! Cell → host.

use crate::codec::{Field, Input, Result, byte_enum, struct_fields, whole};
use crate::header::from_cell as kind;
use crate::{Fatal, Header, Note, WireError};

/// A frame from the cell. The header names its run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FromCell<'a> {
    /// The cell is ready for commands.
    Ready(Box<Facts>),
    /// The command was started.
    Started {
        /// Its process id as seen inside the cell.
        pid: u32,
    },
    /// The command could not be started; the run is over.
    Failed(Failed),
    /// A piece of standard output.
    Stdout(&'a [u8]),
    /// A piece of standard error.
    Stderr(&'a [u8]),
    /// The cell has room for this many more bytes of input of the run.
    StdinCredit(u32),
    /// The command ended; processes that it left behind may still be alive.
    Exited(Exited),
    /// The run is over and, in its own cell, none of its processes is alive.
    Closed(Closed),
    /// Answer to `Ping`.
    Pong(u64),
    /// The cell can't continue; the stream ends here.
    Fatal(Fatal),
}

impl<'a> FromCell<'a> {
    /// Appends the frame.
    pub fn encode(&self, run: u32, out: &mut Vec<u8>) {
        let kind = match self {
            Self::Ready(_) => kind::READY,
            Self::Started { .. } => kind::STARTED,
            Self::Failed(_) => kind::FAILED,
            Self::Stdout(_) => kind::STDOUT,
            Self::Stderr(_) => kind::STDERR,
            Self::StdinCredit(_) => kind::STDIN_CREDIT,
            Self::Exited(_) => kind::EXITED,
            Self::Closed(_) => kind::CLOSED,
            Self::Pong(_) => kind::PONG,
            Self::Fatal(_) => kind::FATAL,
        };
        crate::header::frame(kind, run, out, |out| match self {
            Self::Ready(facts) => facts.put(out),
            Self::Started { pid } => pid.put(out),
            Self::Failed(failed) => failed.put(out),
            Self::Stdout(bytes) | Self::Stderr(bytes) => out.extend_from_slice(bytes),
            Self::StdinCredit(bytes) => bytes.put(out),
            Self::Exited(exited) => exited.put(out),
            Self::Closed(closed) => closed.put(out),
            Self::Pong(nonce) => nonce.put(out),
            Self::Fatal(fatal) => fatal.put(out),
        });
    }

    /// Decodes the payload of a frame whose header was checked.
    pub fn decode(header: &Header, payload: &'a [u8]) -> Result<Self> {
        Ok(match header.kind {
            kind::READY => Self::Ready(Box::new(whole(payload)?)),
            kind::STARTED => Self::Started { pid: whole(payload)? },
            kind::FAILED => Self::Failed(whole(payload)?),
            kind::STDOUT => Self::Stdout(payload),
            kind::STDERR => Self::Stderr(payload),
            kind::STDIN_CREDIT => Self::StdinCredit(whole(payload)?),
            kind::EXITED => Self::Exited(whole(payload)?),
            kind::CLOSED => Self::Closed(whole(payload)?),
            kind::PONG => Self::Pong(whole(payload)?),
            kind::FATAL => Self::Fatal(whole(payload)?),
            other => return Err(WireError::UnknownKind(other)),
        })
    }
}

/// The cell's report about itself once it is ready: read back from inside, not repeated from the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// Protocol version of the cell.
    pub version: u16,
    /// `exec-init` is PID 1 of a PID namespace: killing it, or its own kill, ends everything.
    pub pid_namespace: bool,
    /// User id the commands run with.
    pub uid: u32,
    /// Group id the commands run with.
    pub gid: u32,
    /// The bounding set of capabilities (0: none).
    pub capabilities: u64,
    /// No program can raise its privileges.
    pub no_new_privs: bool,
    /// Our system call filter is on.
    pub seccomp: bool,
    /// Version of the kernel's Landlock that fences the commands; 0 if none does.
    pub landlock_abi: u32,
    /// The most inotify instances of the commands, if that is less than their user has on the host.
    pub inotify_instances: Option<u64>,
    /// The resource limits in force.
    pub limits: ReadBack,
    /// Requests that could not be met, each with its reason.
    pub notes: Vec<Note>,
}
struct_fields!(Facts {
    version, pid_namespace, uid, gid, capabilities, no_new_privs, seccomp, landlock_abi, inotify_instances, limits,
} lists { notes });

/// Limits as the kernel's control files show them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadBack {
    /// The control groups that hold them, if any.
    pub cgroup: Option<CgroupVersion>,
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// Processes and threads, without `exec-init`.
    pub pids: Option<u64>,
    /// Thousandths of a CPU.
    pub cpu_milli: Option<u64>,
}
struct_fields!(ReadBack { cgroup, memory, pids, cpu_milli } lists {});

/// The kernel's two interfaces for control groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CgroupVersion {
    /// One hierarchy per controller.
    V1,
    /// The unified hierarchy.
    V2,
}
byte_enum!(CgroupVersion, "cgroup version", { V1 = 1, V2 = 2 });

/// Why a command could not be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// The step that failed.
    pub stage: Stage,
    /// The system's error number.
    pub errno: i32,
}
struct_fields!(Failed { stage, errno } lists {});

/// The steps between `Start` and the command's first instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Making pipes or the terminal.
    Stdio,
    /// Making the process.
    Fork,
    /// Going to the working directory.
    Cwd,
    /// Setting limits, fences, signal state.
    Confine,
    /// Running the program.
    Exec,
    /// The cell can't accept this command at all (it is closing, or serves another).
    Refused,
}
byte_enum!(Stage, "stage", { Stdio = 0, Fork = 1, Cwd = 2, Confine = 3, Exec = 4, Refused = 5 });

/// How the command's main process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exited {
    /// What ended it.
    pub reason: EndReason,
    /// Its status.
    pub status: Status,
}
struct_fields!(Exited { reason, status } lists {});

/// What ended a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    /// Its own exit, or a signal that the cell did not send by itself.
    Own,
    /// Its wall time was up.
    WallTime,
    /// It was silent for too long.
    IdleTime,
    /// It wrote too much.
    OutputLimit,
    /// A request of the host.
    Stopped,
}
byte_enum!(EndReason, "end reason", { Own = 0, WallTime = 1, IdleTime = 2, OutputLimit = 3, Stopped = 4 });

/// Exit status of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

impl Field for Status {
    fn put(&self, out: &mut Vec<u8>) {
        let (kind, value) = match self {
            Self::Code(code) => (0u8, code),
            Self::Signal(signal) => (1u8, signal),
        };
        kind.put(out);
        value.put(out);
    }

    fn take(input: &mut Input<'_>) -> Result<Self> {
        match (input.take::<u8>()?, input.take()?) {
            (0, code) => Ok(Self::Code(code)),
            (1, signal) => Ok(Self::Signal(signal)),
            _ => Err(WireError::BadValue("status")),
        }
    }
}

/// The account of a finished run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Closed {
    /// Microseconds of CPU time in user mode, including everything the run started.
    pub user_us: u64,
    /// Microseconds of CPU time in the kernel.
    pub system_us: u64,
    /// Peak memory: of the cell if control groups count it, else of the largest process.
    pub peak_memory: u64,
    /// Processes that the kernel killed during this run because the cell's memory was used up.
    pub oom_kills: u64,
    /// How often the cell's limit prevented a new process during this run.
    pub pids_denied: u64,
    /// Bytes of standard output sent.
    pub stdout_bytes: u64,
    /// Bytes of standard error sent.
    pub stderr_bytes: u64,
    /// Processes that could not be killed (uninterruptible sleep).
    pub survivors: Vec<u32>,
}
struct_fields!(Closed {
    user_us, system_us, peak_memory, oom_kills, pids_denied, stdout_bytes, stderr_bytes,
} lists { survivors });
