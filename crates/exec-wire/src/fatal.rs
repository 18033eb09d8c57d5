//! Why a cell can't go on: what the host acts on is a case, the rest is words.

use std::fmt;

use crate::WireError;
use crate::codec::{Field, Input, Result};

/// The reason for the end of a cell's stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fatal {
    /// What is mounted at this path is not what was meant.
    MountMismatch {
        /// The path inside the cell.
        path: String,
        /// Why it could not be looked at, if that failed.
        why: Option<String>,
    },
    /// This host does not allow namespaces, as opposed to a request that can't be carried out: only the former may
    /// lead to weaker walls.
    NamespacesUnavailable(String),
    /// Anything else.
    Other(String),
}

impl fmt::Display for Fatal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MountMismatch { path, why: None } => write!(f, "something else is mounted at `{path}`"),
            Self::MountMismatch { path, why: Some(why) } => {
                write!(f, "can't look at the mount `{path}`: {why}")
            }
            Self::NamespacesUnavailable(why) => write!(f, "this host forbids namespaces: {why}"),
            Self::Other(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Fatal {}

impl Field for Fatal {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Other(message) => {
                0_u8.put(out);
                message.put(out);
            }
            Self::MountMismatch { path, why } => {
                1_u8.put(out);
                path.put(out);
                why.put(out);
            }
            Self::NamespacesUnavailable(why) => {
                2_u8.put(out);
                why.put(out);
            }
        }
    }

    fn take(input: &mut Input<'_>) -> Result<Self> {
        match input.take::<u8>()? {
            0 => Ok(Self::Other(input.take()?)),
            1 => Ok(Self::MountMismatch { path: input.take()?, why: input.take()? }),
            2 => Ok(Self::NamespacesUnavailable(input.take()?)),
            _ => Err(WireError::BadValue("fatal")),
        }
    }
}
