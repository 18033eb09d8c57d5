//! One thing that was looked at, and what came of it.

use std::fmt::Display;

use exec_core::Error;
use serde::Serialize;

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What it is about, in a word or two.
    pub name: &'static str,
    /// What came of it.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// What came of looking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// It is as it should be.
    Holds {
        /// What was seen.
        found: String,
    },
    /// It works, and less holds than could.
    Weak {
        /// What was seen.
        found: String,
        /// What would make it better.
        fix: String,
    },
    /// It does not work.
    Fails {
        /// What was seen.
        found: String,
        /// What would make it work.
        fix: String,
    },
    /// It could not be tried.
    NotTried {
        /// Why.
        why: String,
    },
}

impl Verdict {
    pub(crate) fn holds(found: impl Into<String>) -> Self {
        Self::Holds { found: found.into() }
    }

    pub(crate) fn weak(found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self::Weak { found: found.into(), fix: fix.into() }
    }

    pub(crate) fn fails(found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self::Fails { found: found.into(), fix: fix.into() }
    }

    pub(crate) fn not_tried(why: impl Display) -> Self {
        Self::NotTried { why: why.to_string() }
    }

    /// What an executor could not do, with the remedy it knows.
    pub(crate) fn of_error(error: &Error) -> Self {
        Self::fails(
            error.reason(),
            error.remedy().unwrap_or("run it with `agentctl run --verbose` to see more"),
        )
    }

    /// Whether anything is known.
    pub(crate) fn was_tried(&self) -> bool {
        !matches!(self, Self::NotTried { .. })
    }

    /// Whether a sandbox of which this is true can't be relied on.
    pub fn is_failure(&self) -> bool {
        matches!(self, Self::Fails { .. })
    }
}
