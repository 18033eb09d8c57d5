//! What choosing an executor goes in with and comes out with.

use serde::Serialize;

use crate::{Capabilities, IsolationLevel};

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// The first that works, in the order of preference.
    Auto {
        /// Refuse, rather than use anything but the most preferred.
        no_fallback: bool,
        /// Refuse anything weaker than this.
        floor: Option<IsolationLevel>,
    },
    /// This one and no other.
    Named {
        /// Its name.
        name: String,
        /// Refuse it if it is weaker than this.
        floor: Option<IsolationLevel>,
    },
}

impl Request {
    /// What was asked for, as it is written: `auto`, or a name.
    pub fn asked(&self) -> &str {
        match self {
            Self::Auto { .. } => "auto",
            Self::Named { name, .. } => name,
        }
    }
}

/// One executor as far as choosing is concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its name.
    pub name: String,
    /// Whether it can be used.
    pub availability: Availability,
    /// What rules it out although it may work, like `ENABLE_DOCKER=false`. Being asked for by name is stronger.
    pub ruled_out: Option<String>,
}

/// Whether an executor can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Availability {
    /// It works and can do this.
    Ready(Capabilities),
    /// It does not work.
    Missing {
        /// What was found.
        reason: String,
        /// What would make it work.
        remedy: String,
    },
    /// Nobody has looked.
    NotTried,
}

/// A choice and its reasons.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Selection {
    /// What was asked for: `auto`, or a name.
    pub requested: String,
    /// Name of the chosen one.
    #[serde(rename = "chosen")]
    pub name: String,
    /// Those that were preferred but not chosen, each with the reason.
    pub passed_over: Vec<PassedOver>,
    /// What would have ruled the chosen one out, had it not been asked for by name.
    pub overruled: Option<String>,
}

impl Selection {
    /// Whether something better was wanted and could not be had.
    pub fn is_fallback(&self) -> bool {
        self.passed_over.iter().any(|other| other.because != Because::RuledOut)
    }
}

/// One that was preferred but not chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PassedOver {
    /// Its name.
    #[serde(rename = "executor")]
    pub name: String,
    /// In a word.
    pub because: Because,
    /// In a sentence.
    pub reason: String,
    /// What would make it the choice.
    pub remedy: String,
}

impl PassedOver {
    pub(crate) fn ruled_out(name: String, by: &str) -> Self {
        let remedy = format!("take {by} back, or ask for it by name: --sandbox {name}");
        Self { name, because: Because::RuledOut, reason: by.to_owned(), remedy }
    }
}

/// Why one was passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Because {
    /// It does not work here.
    Missing,
    /// It works, and is too weak or can't do what was asked for.
    Unfit,
    /// Somebody ruled it out.
    RuledOut,
}
