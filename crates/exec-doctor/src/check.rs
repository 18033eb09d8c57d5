//! One check and its verdict.

use std::fmt::Display;

use exec_core::{Error, Operation, Remedy};
use serde::Serialize;

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Its subject, in a word or two.
    pub name: &'static str,
    /// Its result.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// It works as it should.
    Holds {
        /// What was observed.
        found: String,
    },
    /// It works, with weaker guarantees than possible.
    Weak {
        /// What was observed.
        found: String,
        /// How to improve it.
        fix: Remedy,
    },
    /// It does not work.
    Fails {
        /// What was observed.
        found: String,
        /// How to make it work.
        fix: Remedy,
    },
    /// It could not be checked.
    NotTried {
        /// Why.
        why: String,
    },
}

impl Verdict {
    pub(crate) fn holds(found: impl Into<String>) -> Self {
        Self::Holds { found: found.into() }
    }

    pub(crate) fn weak(found: impl Into<String>, fix: impl Into<Remedy>) -> Self {
        Self::Weak { found: found.into(), fix: fix.into() }
    }

    pub(crate) fn fails(found: impl Into<String>, fix: impl Into<Remedy>) -> Self {
        Self::Fails { found: found.into(), fix: fix.into() }
    }

    pub(crate) fn not_tried(why: impl Display) -> Self {
        Self::NotTried { why: why.to_string() }
    }

    /// An executor's error, with its own remedy.
    pub(crate) fn of_error(error: &Error) -> Self {
        Self::fails(error.reason(), error.remedy().cloned().unwrap_or_else(|| Operation::Trace.into()))
    }

    pub(crate) fn fix_mut(&mut self) -> Option<&mut Remedy> {
        match self {
            Self::Weak { fix, .. } | Self::Fails { fix, .. } => Some(fix),
            Self::Holds { .. } | Self::NotTried { .. } => None,
        }
    }

    /// Whether the check was carried out.
    pub(crate) fn was_tried(&self) -> bool {
        !matches!(self, Self::NotTried { .. })
    }

    /// Whether a sandbox with this verdict can't be relied on.
    pub fn is_failure(&self) -> bool {
        matches!(self, Self::Fails { .. })
    }
}
