//! The description of a command for the cell.

use crate::WireError;
use crate::codec::{Field, Input, Result, byte_enum, struct_fields};

/// One command, as the cell runs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// Program and arguments; the program is looked up in the environment's `PATH` unless it has a slash.
    pub argv: Vec<Vec<u8>>,
    /// The whole environment, `NAME=value` each.
    pub env: Vec<Vec<u8>>,
    /// Working directory inside the cell.
    pub cwd: Vec<u8>,
    /// Where the standard streams go.
    pub stdio: Stdio,
    /// When the cell ends the command by itself.
    pub limits: Limits,
    /// Which processes die with the command.
    pub lifetime: Lifetime,
    /// File mode creation mask.
    pub umask: u32,
    /// Kernel limits of the command's processes.
    pub rlimits: Vec<Rlimit>,
}

impl Field for Start {
    fn put(&self, out: &mut Vec<u8>) {
        crate::codec::put_list(&self.argv, out);
        crate::codec::put_list(&self.env, out);
        self.cwd.put(out);
        self.stdio.put(out);
        self.limits.put(out);
        self.lifetime.put(out);
        self.umask.put(out);
        crate::codec::put_list(&self.rlimits, out);
    }

    fn take(input: &mut Input<'_>) -> Result<Self> {
        let start = Self {
            argv: crate::codec::take_list(input)?,
            env: crate::codec::take_list(input)?,
            cwd: input.take()?,
            stdio: input.take()?,
            limits: input.take()?,
            lifetime: input.take()?,
            umask: input.take()?,
            rlimits: crate::codec::take_list(input)?,
        };
        let has_nul = |bytes: &Vec<u8>| bytes.contains(&0);
        if start.argv.is_empty() || start.argv.iter().any(has_nul) {
            return Err(WireError::BadValue("argv"));
        }
        if start.env.iter().any(has_nul) {
            return Err(WireError::BadValue("env"));
        }
        if start.cwd.is_empty() || has_nul(&start.cwd) {
            return Err(WireError::BadValue("cwd"));
        }
        Ok(start)
    }
}

/// Where a command's standard streams go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stdio {
    /// Three pipes; without input, standard input is `/dev/null`.
    Pipes {
        /// Whether the host will write standard input.
        stdin: bool,
    },
    /// One terminal for all three; everything arrives as standard output.
    Tty(WindowSize),
}

impl Field for Stdio {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Pipes { stdin } => {
                0u8.put(out);
                stdin.put(out);
            }
            Self::Tty(size) => {
                1u8.put(out);
                size.put(out);
            }
        }
    }

    fn take(input: &mut Input<'_>) -> Result<Self> {
        match input.take::<u8>()? {
            0 => Ok(Self::Pipes { stdin: input.take()? }),
            1 => Ok(Self::Tty(input.take()?)),
            _ => Err(WireError::BadValue("stdio")),
        }
    }
}

/// Size of a terminal in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowSize {
    /// Lines.
    pub rows: u16,
    /// Columns.
    pub cols: u16,
}
struct_fields!(WindowSize { rows, cols } lists {});

/// When the cell ends a command by itself, so that a stopped or slow host can't extend a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Milliseconds of wall time.
    pub wall_ms: Option<u64>,
    /// Milliseconds without output.
    pub idle_ms: Option<u64>,
    /// Bytes of standard output and error together.
    pub output_bytes: Option<u64>,
    /// Milliseconds between the polite signal and the kill.
    pub grace_ms: u64,
    /// Milliseconds after the command's own end during which its background processes may still write.
    pub drain_ms: u64,
}
struct_fields!(Limits { wall_ms, idle_ms, output_bytes, grace_ms, drain_ms } lists {});

/// Which processes die with a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifetime {
    /// Everything in the cell: the cell serves this one command.
    Cell,
    /// Nothing at its own end (background processes belong to the session); on a stop or a limit, all its
    /// descendants.
    Session,
}
byte_enum!(Lifetime, "lifetime", { Cell = 0, Session = 1 });

/// One kernel limit, soft and hard alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rlimit {
    /// The resource.
    pub resource: Resource,
    /// The limit.
    pub value: u64,
}
struct_fields!(Rlimit { resource, value } lists {});

/// The kernel limits of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resource {
    /// Open files.
    OpenFiles,
    /// Processes of the user.
    Processes,
    /// Private writable memory of one process.
    Data,
    /// Size of one written file.
    FileSize,
}
byte_enum!(Resource, "resource", { OpenFiles = 0, Processes = 1, Data = 2, FileSize = 3 });
