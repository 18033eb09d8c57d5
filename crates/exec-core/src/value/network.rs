//! Network policies.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::ParseValueError;

/// The network that a command has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Network {
    /// Only a private loopback.
    None,
    /// A network of the container engine, with access to the outside.
    Bridge,
    /// The host's network, host loopback included.
    Host,
}

impl FromStr for Network {
    type Err = ParseValueError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "none" => Ok(Self::None),
            "bridge" => Ok(Self::Bridge),
            "host" => Ok(Self::Host),
            _ => Err(ParseValueError::new(text, "a network", "use `none`, `bridge` or `host`")),
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Bridge => "bridge",
            Self::Host => "host",
        })
    }
}
