//! Everything that was found, as one object with stable names.

use exec_core::{EngineInfo, IsolationLevel};
use serde::Serialize;

use crate::{Check, Host};

/// What a doctor has to say.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// What a run would get.
    pub chosen: Chosen,
    /// Every sandbox, most preferred first.
    pub sandboxes: Vec<Sandbox>,
    /// This machine.
    pub host: Host,
    /// What about this machine is worth knowing.
    pub host_checks: Vec<Check>,
}

/// What a run would get.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Chosen {
    /// This sandbox.
    Sandbox {
        /// What was asked for.
        requested: String,
        /// What it comes to.
        name: String,
        /// It is not the one that would be preferred.
        fallback: bool,
    },
    /// A refusal.
    Nothing {
        /// Why.
        reason: String,
        /// What would change that.
        fix: String,
    },
}

/// One sandbox.
#[derive(Debug, Clone, Serialize)]
pub struct Sandbox {
    /// Its name.
    pub name: String,
    /// Whether it is there.
    #[serde(flatten)]
    pub state: State,
}

/// Whether a sandbox is there.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum State {
    /// It answers, and this is what was tried with it.
    Present {
        /// The wall its cells have.
        isolation: IsolationLevel,
        /// The engine behind it.
        engine: Option<EngineInfo>,
        /// What was tried.
        checks: Vec<Check>,
    },
    /// It is not.
    Missing {
        /// What was found instead.
        reason: String,
        /// What would make it work.
        fix: String,
    },
}

impl Sandbox {
    /// Whether everything that was tried with it works.
    pub fn works(&self) -> bool {
        match &self.state {
            // One in which nothing could be tried is not one that works.
            State::Present { checks, .. } => {
                !checks.iter().any(|check| check.verdict.is_failure())
                    && checks.iter().any(|check| check.name == "cell" && check.verdict.was_tried())
            }
            State::Missing { .. } => false,
        }
    }
}

impl Report {
    /// Whether a run would get a sandbox in which everything that was tried works.
    pub fn works(&self) -> bool {
        match &self.chosen {
            Chosen::Sandbox { name, .. } => self.sandboxes.iter().any(|one| one.name == *name && one.works()),
            Chosen::Nothing { .. } => false,
        }
    }
}
