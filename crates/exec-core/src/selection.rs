//! Inputs and outputs of executor selection.

use serde::Serialize;

use crate::{Capabilities, Change, IsolationLevel, Remedy};

/// Which executor is requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// The first executor that works, in order of preference.
    Auto {
        /// Refuse anything but the most preferred executor.
        no_fallback: bool,
        /// Refuse anything weaker than this.
        floor: Option<IsolationLevel>,
    },
    /// This executor and no other.
    Named {
        /// Its name.
        name: String,
        /// Refuse it if it is weaker than this.
        floor: Option<IsolationLevel>,
    },
}

impl Request {
    /// The request as written: `auto`, or a name.
    pub fn asked(&self) -> &str {
        match self {
            Self::Auto { .. } => "auto",
            Self::Named { name, .. } => name,
        }
    }
}

/// An executor as the selection sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its name.
    pub name: String,
    /// Whether it can be used.
    pub availability: Availability,
    /// What rules it out although it may work, like `ENABLE_DOCKER=false`. A request by name takes precedence.
    pub ruled_out: Option<String>,
}

/// Whether an executor can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Availability {
    /// The executor works and has these capabilities.
    Ready(Capabilities),
    /// The executor does not work.
    Missing {
        /// What was found.
        reason: String,
        /// What would make it work.
        remedy: Remedy,
    },
    /// The executor was not probed.
    NotTried,
}

/// A choice and its reasons.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Selection {
    /// The request: `auto`, or a name.
    pub requested: String,
    /// The name of the chosen executor.
    #[serde(rename = "chosen")]
    pub name: String,
    /// Executors that were preferred but not chosen, each with the reason.
    pub passed_over: Vec<PassedOver>,
    /// What would have ruled out the chosen executor if it had not been requested by name.
    pub overruled: Option<String>,
}

impl Selection {
    /// Whether a more preferred executor was unavailable or unfit.
    pub fn is_fallback(&self) -> bool {
        self.passed_over.iter().any(|other| other.because != Because::RuledOut)
    }
}

/// An executor that was preferred but not chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PassedOver {
    /// Its name.
    #[serde(rename = "executor")]
    pub name: String,
    /// The kind of reason.
    pub because: Because,
    /// The reason as a sentence.
    pub reason: String,
    /// What would get it chosen.
    pub remedy: Remedy,
}

impl PassedOver {
    pub(crate) fn ruled_out(name: String, by: &str) -> Self {
        let remedy = Remedy::from(format!("take {by} back")).or(by_name(&name));
        Self { name, because: Because::RuledOut, reason: by.to_owned(), remedy }
    }
}

/// How to ask for an executor by name.
pub(crate) fn by_name(name: &str) -> Change {
    Change::set("executor", name).with_purpose("to ask for it by name")
}

/// Why an executor was passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Because {
    /// It does not work here.
    Missing,
    /// It works, but is too weak or lacks a requested feature.
    Unfit,
    /// It was ruled out.
    RuledOut,
}
