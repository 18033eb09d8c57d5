//! Host → cell.

use crate::codec::{Field, whole};
use crate::header::to_cell as kind;
use crate::{ContainerPlan, Header, JailSpec, Start, WindowSize, WireError};

/// A frame to the cell. The header names its run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToCell<'a> {
    /// First frame: the host's protocol version.
    Hello {
        /// [`PROTOCOL_VERSION`](crate::PROTOCOL_VERSION) of the host.
        version: u16,
    },
    /// To the keeper of a local cell, before `Hello`: the walls around PID 1.
    Jail(Box<JailSpec>),
    /// To PID 1 of a container, before `Hello`: what it checks and adds.
    Container(Box<ContainerPlan>),
    /// Run this.
    Start(Box<Start>),
    /// Bytes for the command's standard input.
    Stdin(&'a [u8]),
    /// No more input.
    StdinEof,
    /// The host has room for this many more bytes of output of the run.
    Credit(u32),
    /// Send this signal to the command's process group.
    Signal(i32),
    /// The terminal has a new size.
    Resize(WindowSize),
    /// End the run: politely, then by force after this many milliseconds.
    Stop {
        /// Milliseconds between SIGTERM and the kill; 0 kills at once.
        grace_ms: u64,
    },
    /// Asks for a `Pong`.
    Ping(u64),
}

impl<'a> ToCell<'a> {
    /// Appends the frame.
    pub fn encode(&self, run: u32, out: &mut Vec<u8>) {
        let kind = match self {
            Self::Hello { .. } => kind::HELLO,
            Self::Jail(_) => kind::JAIL,
            Self::Container(_) => kind::CONTAINER,
            Self::Start(_) => kind::START,
            Self::Stdin(_) => kind::STDIN,
            Self::StdinEof => kind::STDIN_EOF,
            Self::Credit(_) => kind::CREDIT,
            Self::Signal(_) => kind::SIGNAL,
            Self::Resize(_) => kind::RESIZE,
            Self::Stop { .. } => kind::STOP,
            Self::Ping(_) => kind::PING,
        };
        crate::header::frame(kind, run, out, |out| match self {
            Self::Hello { version } => version.put(out),
            Self::Jail(spec) => spec.put(out),
            Self::Container(plan) => plan.put(out),
            Self::Start(start) => start.put(out),
            Self::Stdin(bytes) => out.extend_from_slice(bytes),
            Self::StdinEof => {}
            Self::Credit(bytes) => bytes.put(out),
            Self::Signal(signal) => signal.put(out),
            Self::Resize(size) => size.put(out),
            Self::Stop { grace_ms } => grace_ms.put(out),
            Self::Ping(nonce) => nonce.put(out),
        });
    }

    /// Decodes the payload of a frame whose header was checked.
    pub fn decode(header: &Header, payload: &'a [u8]) -> Result<Self, WireError> {
        Ok(match header.kind {
            kind::HELLO => Self::Hello { version: whole(payload)? },
            kind::JAIL => Self::Jail(Box::new(whole(payload)?)),
            kind::CONTAINER => Self::Container(Box::new(whole(payload)?)),
            kind::START => Self::Start(Box::new(whole(payload)?)),
            kind::STDIN => Self::Stdin(payload),
            kind::STDIN_EOF if payload.is_empty() => Self::StdinEof,
            kind::STDIN_EOF => return Err(WireError::TrailingBytes(payload.len())),
            kind::CREDIT => Self::Credit(whole(payload)?),
            kind::SIGNAL => Self::Signal(whole(payload)?),
            kind::RESIZE => Self::Resize(whole(payload)?),
            kind::STOP => Self::Stop { grace_ms: whole(payload)? },
            kind::PING => Self::Ping(whole(payload)?),
            other => return Err(WireError::UnknownKind(other)),
        })
    }
}
