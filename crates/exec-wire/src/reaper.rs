//! The orders to `exec-init reaper`, the helper that removes the host's containers when the host is gone.
//!
//! Lines of text on the reaper's standard input. The first has the engine's address. Then come the
//! directories of the host's FIFO channels and records, if it has any; a `watch` before each container is created, a
//! `made` afterwards and a `forget` once it is gone. A line fits into one atomic write to a pipe, so a host
//! that dies while writing leaves whole lines. The end of the stream is the order to remove all containers
//! still watched; so is an invalid line, because the lines after it can't be trusted.
//!
//! A host that learns that a name was already taken forgets it at once: the container belongs to another
//! owner.
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

/// The most names that can be watched at a time; with one more the reaper considers the host broken.
pub const MAX_NAMES: usize = 4096;

/// The longest line, with its end.
pub const MAX_LINE: usize = 256;

const MAX_NAME: usize = 128;

/// The room in a line beside its verb.
const MAX_DIRECTORY: usize = 240;

/// The longest path in the kernel's address of a Unix socket.
const MAX_PATH: usize = 107;

const RECHECK: &str = "recheck";

/// The name of a container, checked: it can be used in the path of a request unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name(String);

impl Name {
    /// Letters, digits, `_`, `.` and `-`, beginning with a letter or digit, as engines require.
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

/// Path of a Unix socket, checked: absolute, and short enough for the kernel.
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

    /// The path as bytes for the kernel.
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

    /// The path as bytes for the kernel.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// The engine's address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A socket in the file system.
    Unix(SocketPath),
    /// A port, without TLS. The host resolves the name, because a static program may be unable to.
    Tcp(SocketAddr),
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// The engine's address: the first line, and only the first.
    Engine(Address),
    /// The directory of the FIFO channels of the host's containers: each a directory with two named pipes. Removed at
    /// the end.
    FifoChannels(Directory),
    /// The path of a container's record without the name at its end; the records of its runs continue with a
    /// dot. They are removed with the container if the host is dead.
    Records(Directory),
    /// The mark that the audit log has been checked for lost runs. It is removed together with the record of
    /// a run, because that run then has no end in the log.
    LogNote(Directory),
    /// A container that this engine reports as removed may still appear if it was being created: the request
    /// is repeated until it stays away.
    Recheck,
    /// This container is about to be created.
    Watch(Name),
    /// This container was created: if the engine has none of that name, it is gone.
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
            Self::FifoChannels(directory) => {
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

    /// The first line in `bytes` and the rest after it, or `None` while it is incomplete.
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
            return Directory::new(path).map(Self::FifoChannels);
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
