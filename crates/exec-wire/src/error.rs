//! Errors of bytes that claim to be a frame.

use std::fmt;

/// A frame that can't be decoded. The stream it came from is unusable from here on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WireError {
    /// The kind byte names no frame of this direction.
    UnknownKind(u8),
    /// The header promises more bytes than a frame of that kind may have.
    TooLong {
        /// The frame's kind byte.
        kind: u8,
        /// The promised length.
        len: u32,
        /// The most a frame of this kind may have.
        max: u32,
    },
    /// The payload ended inside a field.
    Truncated,
    /// The payload continues after its last field.
    TrailingBytes(usize),
    /// A field holds a value it can't have.
    BadValue(&'static str),
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownKind(kind) => write!(f, "unknown frame kind {kind:#04x}"),
            Self::TooLong { kind, len, max } => {
                write!(f, "frame of kind {kind:#04x} claims {len} bytes, the most is {max}")
            }
            Self::Truncated => f.write_str("frame ends inside a field"),
            Self::TrailingBytes(count) => write!(f, "{count} bytes after the frame's last field"),
            Self::BadValue(field) => write!(f, "impossible value in field `{field}`"),
        }
    }
}

impl std::error::Error for WireError {}
