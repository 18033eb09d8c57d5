//! Which isolation held: read back from the cell, not repeated from the request.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::{Claim, LimitName, ParseValueError};

/// How strong a wall stands between a command and the host, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IsolationLevel {
    /// A process group: a command that leaves it can't be found again.
    ProcessGroup,
    /// A supervisor that inherits every orphan; the host's files are fenced by Landlock at best.
    Subreaper,
    /// Namespaces with a file system of their own.
    Namespaces,
    /// A hardened container.
    Container,
    /// A kernel of its own.
    Vm,
}

const LEVELS: [(IsolationLevel, &str); 5] = [
    (IsolationLevel::ProcessGroup, "process-group"),
    (IsolationLevel::Subreaper, "subreaper"),
    (IsolationLevel::Namespaces, "namespaces"),
    (IsolationLevel::Container, "container"),
    (IsolationLevel::Vm, "vm"),
];

impl fmt::Display for IsolationLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = LEVELS.iter().find(|(level, _)| level == self).map_or("", |(_, name)| name);
        f.pad(name)
    }
}

impl FromStr for IsolationLevel {
    type Err = ParseValueError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        LEVELS.iter().find(|(_, name)| *name == text).map(|(level, _)| *level).ok_or_else(|| {
            let names: Vec<&str> = LEVELS.iter().map(|(_, name)| *name).collect();
            ParseValueError::new(text, "an isolation level", format!("use one of {}", names.join(", ")))
        })
    }
}

/// The isolation a run had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Isolation {
    /// The wall.
    pub level: IsolationLevel,
    /// What it holds.
    pub claims: BTreeSet<Claim>,
    /// User id the command ran with, as the host counts.
    pub uid: u32,
    /// Group id the command ran with.
    pub gid: u32,
    /// Version of the kernel's Landlock used as second fence; 0 when none was.
    pub landlock_abi: u32,
    /// The image it ran in, with its digest where it has one; none for executors without images.
    pub image: Option<String>,
    /// Each limit and how it was held.
    pub limits: Vec<LimitReport>,
    /// What the defaults would have had and this run did not, each with the reason.
    pub degraded: Vec<String>,
}

/// How one limit was held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LimitReport {
    /// Which.
    pub limit: LimitName,
    /// The value asked for, as text.
    pub asked: String,
    /// How it was held.
    #[serde(flatten)]
    pub held: Held,
}

/// How a limit was held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "held", rename_all = "snake_case")]
pub enum Held {
    /// For the run as a whole.
    Enforced {
        /// By what.
        by: String,
    },
    /// For a part of it only: a run can use more than was asked for.
    InPart {
        /// By what, and which part.
        by: String,
        /// What else counts and is not held.
        gap: String,
    },
    /// Not at all.
    NotEnforced {
        /// Why not.
        why: String,
    },
}

impl Isolation {
    /// Whether it holds this.
    pub fn holds(&self, claim: Claim) -> bool {
        self.claims.contains(&claim)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_ordered_and_round_trip() {
        assert!(LEVELS.is_sorted_by_key(|(level, _)| *level));
        for (level, name) in LEVELS {
            assert_eq!(name.parse(), Ok(level));
            assert_eq!(level.to_string(), name);
        }
        assert!("jail".parse::<IsolationLevel>().is_err());
    }
}
