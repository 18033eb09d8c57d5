//! All results, as one object with stable names.

use exec_core::{EngineInfo, IsolationLevel, Remedy};
use serde::Serialize;

use crate::{Check, Host};

/// A complete report.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// What a run would use.
    pub chosen: Chosen,
    /// Every sandbox, most preferred first.
    pub sandboxes: Vec<Sandbox>,
    /// This machine.
    pub host: Host,
    /// Findings about this machine.
    pub host_checks: Vec<Check>,
}

/// What a run would use.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Chosen {
    /// This sandbox.
    Sandbox {
        /// The requested sandbox.
        requested: String,
        /// The resulting sandbox.
        name: String,
        /// Whether it is not the preferred one.
        fallback: bool,
    },
    /// A refusal.
    Nothing {
        /// Why.
        reason: String,
        /// How to change that.
        fix: Remedy,
    },
}

/// One sandbox.
#[derive(Debug, Clone, Serialize)]
pub struct Sandbox {
    /// Its name.
    pub name: String,
    /// Whether it is available.
    #[serde(flatten)]
    pub state: State,
}

/// Whether a sandbox is available.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum State {
    /// It answers, with these checks.
    Present {
        /// The isolation of its cells.
        isolation: IsolationLevel,
        /// The engine behind it.
        engine: Option<EngineInfo>,
        /// The checks carried out.
        checks: Vec<Check>,
    },
    /// It is not available.
    Missing {
        /// What was found instead.
        reason: String,
        /// How to make it work.
        fix: Remedy,
    },
}

impl Sandbox {
    /// Whether the cell was checked and no check failed.
    pub fn works(&self) -> bool {
        match &self.state {
            // A sandbox in which nothing could be checked does not count as working.
            State::Present { checks, .. } => {
                !checks.iter().any(|check| check.verdict.is_failure())
                    && checks.iter().any(|check| check.name == "cell" && check.verdict.was_tried())
            }
            State::Missing { .. } => false,
        }
    }
}

impl Sandbox {
    fn remedies_mut(&mut self) -> impl Iterator<Item = &mut Remedy> {
        let (fix, checks) = match &mut self.state {
            State::Present { checks, .. } => (None, checks.as_mut_slice()),
            State::Missing { fix, .. } => (Some(fix), Default::default()),
        };
        fix.into_iter().chain(checks.iter_mut().filter_map(|check| check.verdict.fix_mut()))
    }
}

impl Report {
    /// Every remedy in it, for a front end that replaces them with its own words.
    pub fn remedies_mut(&mut self) -> impl Iterator<Item = &mut Remedy> {
        let chosen = match &mut self.chosen {
            Chosen::Sandbox { .. } => None,
            Chosen::Nothing { fix, .. } => Some(fix),
        };
        let sandboxes = self.sandboxes.iter_mut().flat_map(Sandbox::remedies_mut);
        let host = self.host_checks.iter_mut().filter_map(|check| check.verdict.fix_mut());
        chosen.into_iter().chain(sandboxes).chain(host)
    }

    /// Whether a run would use a sandbox that works.
    pub fn works(&self) -> bool {
        match &self.chosen {
            Chosen::Sandbox { name, .. } => self.sandboxes.iter().any(|one| one.name == *name && one.works()),
            Chosen::Nothing { .. } => false,
        }
    }
}
