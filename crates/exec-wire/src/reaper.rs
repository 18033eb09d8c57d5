//! What a host tells `exec-init reaper`, the helper that removes the host's containers when the host is gone.
//!
//! Lines of text on the reaper's standard input: first where the engine is, then where the host keeps the lanes of its
//! containers if it has any, and their records, a `watch` before each container is created, a `made` once it was and a
//! `forget` after it is gone. A line is shorter than what a pipe takes in one piece, so a host that dies while it
//! writes leaves whole lines. The end of the stream is the order to remove what is still watched; so is a line that
//! makes no sense, because what follows it can't be trusted.
//!
//! A host that learns that a name was taken already forgets it at once: the container is somebody else's.
//!
//! ```
//! use exec_wire::reaper::{Address, Name, Order, SocketPath};
//!
//! let mut lines = Vec::new();
//! Order::Engine(Address::Unix(SocketPath::new(b"/var/run/docker.sock")?)).encode(&mut lines);
//! Order::Watch(Name::new("cell-7")?).encode(&mut lines);
//! assert_eq!(lines, b"engine unix /var/run/docker.sock\nwatch cell-7\n");
//! # Ok::<(), exec_wire::WireError>(())
//! ```

use std::fmt;
use std::net::SocketAddr;

use crate::WireError;

/// The most names that can be watched at a time; one more and the reaper takes the host for broken.
pub const MAX_NAMES: usize = 4096;

/// The longest line, with its end.
pub const MAX_LINE: usize = 256;

const MAX_NAME: usize = 128;

/// What a line has room for beside its verb.
const MAX_DIRECTORY: usize = 240;

/// What the kernel's address of a Unix socket has room for.
const MAX_PATH: usize = 107;

const RECHECK: &str = "recheck";

/// The name of a container, checked: it can stand in the path of a request as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name(String);

impl Name {
    /// Letters, digits, `_`, `.` and `-`, beginning with a letter or digit, as engines want it.
    pub fn new(text: impl Into<String>) -> Result<Self, WireError> {
        let text = text.into();
        let begins_well = text.starts_with(|c: char| c.is_ascii_alphanumeric());
        let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte));
        if begins_well && is_plain && text.len() <= MAX_NAME {
            Ok(Self(text))
        } else {
            Err(WireError::BadValue("name"))
        }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Path of a Unix socket, checked: absolute, and something the kernel can connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SocketPath(Vec<u8>);

impl SocketPath {
    /// Takes an absolute path of at most 107 bytes on a single line.
    pub fn new(path: impl Into<Vec<u8>>) -> Result<Self, WireError> {
        let path = path.into();
        if path.starts_with(b"/") && path.len() <= MAX_PATH && !path.iter().any(|byte| b"\0\n".contains(byte))
        {
            Ok(Self(path))
        } else {
            Err(WireError::BadValue("socket"))
        }
    }

    /// The path as the kernel takes it.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Path of a directory, checked: absolute, and short enough for a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directory(Vec<u8>);

impl Directory {
    /// Takes an absolute path of at most 240 bytes on a single line.
    pub fn new(path: impl Into<Vec<u8>>) -> Result<Self, WireError> {
        let path = path.into();
        let is_one_line = !path.iter().any(|byte| b"\0\n".contains(byte));
        if path.starts_with(b"/") && path.len() <= MAX_DIRECTORY && is_one_line {
            Ok(Self(path))
        } else {
            Err(WireError::BadValue("directory"))
        }
    }

    /// The path as the kernel takes it.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Where the engine is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A socket in the file system.
    Unix(SocketPath),
    /// A port, without TLS. The host looks the name up: a static program can't be sure to know how.
    Tcp(SocketAddr),
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// Where the engine is: the first line, and only the first.
    Engine(Address),
    /// Where the host keeps the lanes of its containers: each a directory with two named pipes. They go when all is done.
    Lanes(Directory),
    /// What the records of a container are called, but for its name at the end; those of its runs go on with a dot. They go
    /// with it, if the host is dead.
    Records(Directory),
    /// A note that the log of runs has been gone through. It goes with the record of a run: that run has no end in the log.
    LogNote(Directory),
    /// What this engine says it has removed may still appear, if it was being created: it is asked until it stays away.
    Recheck,
    /// This container is about to be created.
    Watch(Name),
    /// This container was created: if there is none of that name, it is gone.
    Made(Name),
    /// This container is gone, or will never be.
    Forget(Name),
}

impl Order {
    /// Appends the line.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Engine(Address::Unix(path)) => {
                out.extend_from_slice(b"engine unix ");
                out.extend_from_slice(path.as_bytes());
            }
            Self::Engine(Address::Tcp(address)) => out.extend(format!("engine tcp {address}").bytes()),
            Self::Lanes(directory) => {
                out.extend_from_slice(b"lanes ");
                out.extend_from_slice(directory.as_bytes());
            }
            Self::Records(prefix) => {
                out.extend_from_slice(b"records ");
                out.extend_from_slice(prefix.as_bytes());
            }
            Self::LogNote(path) => {
                out.extend_from_slice(b"log-note ");
                out.extend_from_slice(path.as_bytes());
            }
            Self::Recheck => out.extend_from_slice(RECHECK.as_bytes()),
            Self::Watch(name) => out.extend(format!("watch {name}").bytes()),
            Self::Made(name) => out.extend(format!("made {name}").bytes()),
            Self::Forget(name) => out.extend(format!("forget {name}").bytes()),
        }
        out.push(b'\n');
    }

    /// The first line in `bytes` and what comes after it, or `None` while it is not whole yet.
    pub fn split(bytes: &[u8]) -> Result<Option<(Self, &[u8])>, WireError> {
        match bytes.iter().take(MAX_LINE).position(|byte| *byte == b'\n') {
            Some(end) => {
                let (line, rest) = bytes.split_at(end);
                Ok(Some((Self::decode(line)?, rest.get(1..).unwrap_or_default())))
            }
            None if bytes.len() < MAX_LINE => Ok(None),
            None => Err(WireError::BadValue("line")),
        }
    }

    fn decode(line: &[u8]) -> Result<Self, WireError> {
        if let Some(path) = line.strip_prefix(b"engine unix ") {
            return SocketPath::new(path).map(|path| Self::Engine(Address::Unix(path)));
        }
        if let Some(path) = line.strip_prefix(b"lanes ") {
            return Directory::new(path).map(Self::Lanes);
        }
        if let Some(prefix) = line.strip_prefix(b"records ") {
            return Directory::new(prefix).map(Self::Records);
        }
        if let Some(path) = line.strip_prefix(b"log-note ") {
            return Directory::new(path).map(Self::LogNote);
        }
        let line = str::from_utf8(line).map_err(|_| WireError::BadValue("line"))?;
        match line.split_once(' ') {
            None if line == RECHECK => Ok(Self::Recheck),
            Some(("engine", address)) => tcp(address).map(Self::Engine),
            Some(("watch", name)) => Name::new(name).map(Self::Watch),
            Some(("made", name)) => Name::new(name).map(Self::Made),
            Some(("forget", name)) => Name::new(name).map(Self::Forget),
            _ => Err(WireError::BadValue("line")),
        }
    }
}

fn tcp(address: &str) -> Result<Address, WireError> {
    let address = address.strip_prefix("tcp ").and_then(|address| address.parse().ok());
    address.map(Address::Tcp).ok_or(WireError::BadValue("engine"))
}
