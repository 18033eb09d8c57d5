//! Where an engine listens.

use std::fmt;
use std::path::PathBuf;

/// An engine's address.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Endpoint {
    /// A socket in the file system.
    Unix(PathBuf),
    /// A port, without encryption.
    Tcp {
        /// Name or address.
        host: String,
        /// Port number.
        port: u16,
    },
    /// A named pipe of Windows.
    NamedPipe(String),
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix://{}", path.display()),
            Self::Tcp { host, port } => write!(f, "tcp://{host}:{port}"),
            Self::NamedPipe(name) => write!(f, "npipe://{name}"),
        }
    }
}
