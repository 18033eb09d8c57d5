//! The isolation that held: read back from the cell, not copied from the request.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::{Claim, LimitName, ParseValueError};

/// How strongly a command is isolated from the host, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IsolationLevel {
    /// A process group. A process that leaves it is lost.
    ProcessGroup,
    /// A supervisor that inherits every orphan. Host files are protected by Landlock at best.
    Subreaper,
    /// Namespaces with a private file system.
    Namespaces,
    /// A hardened container.
    Container,
    /// A virtual machine with its own kernel.
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
    /// The isolation level.
    pub level: IsolationLevel,
    /// The properties that it guarantees.
    pub claims: BTreeSet<Claim>,
    /// The user id that the command ran with, as seen by the host.
    pub uid: u32,
    /// The group id that the command ran with.
    pub gid: u32,
    /// The Landlock ABI version used as a second fence; 0 if Landlock was not used.
    pub landlock_abi: u32,
    /// The image, with its digest where it has one; `None` for executors without images.
    pub image: Option<String>,
    /// Each limit and how it was enforced.
    pub limits: Vec<LimitReport>,
    /// Default protections that this run lacked, each with the reason.
    pub degraded: Vec<String>,
}

/// How one limit was enforced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LimitReport {
    /// The limit.
    pub limit: LimitName,
    /// The requested value, as text.
    pub asked: String,
    /// How it was enforced.
    #[serde(flatten)]
    pub held: Held,
}

/// How a limit was enforced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "held", rename_all = "snake_case")]
pub enum Held {
    /// For the run as a whole.
    Enforced {
        /// The mechanism.
        by: String,
    },
    /// Only in part: a run can use more than the limit.
    InPart {
        /// The mechanism, and the part that it covers.
        by: String,
        /// What it does not cover.
        gap: String,
    },
    /// Not at all.
    NotEnforced {
        /// The reason.
        why: String,
    },
}

impl Isolation {
    /// A report that claims nothing beyond its level: user 0, no limits, no image.
    ///
    /// Executors, and tests, state what they add:
    ///
    /// ```
    /// use exec_core::{Claim, Isolation, IsolationLevel};
    ///
    /// let isolation = Isolation { uid: 1000, gid: 1000, ..Isolation::new(IsolationLevel::Subreaper) };
    /// assert!(!isolation.holds(Claim::PrivateTmp));
    /// ```
    pub fn new(level: IsolationLevel) -> Self {
        Self {
            level,
            claims: BTreeSet::new(),
            uid: 0,
            gid: 0,
            landlock_abi: 0,
            image: None,
            limits: Vec::new(),
            degraded: Vec::new(),
        }
    }

    /// Whether it guarantees this property.
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
