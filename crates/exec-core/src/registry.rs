//! The executors of this process, by name.

use std::sync::Arc;

use crate::select::unknown;
use crate::{Availability, Candidate, ErrorKind, Executor, Request, Result, Selection, select};

/// What looking for an executor came to.
#[derive(Debug, Clone)]
pub enum Detected {
    /// It works.
    Ready(Arc<dyn Executor>),
    /// It does not.
    Missing {
        /// Its name.
        name: String,
        /// What was found.
        reason: String,
        /// What would make it work.
        remedy: String,
    },
}

impl Detected {
    /// What came of making an executor of this name. One that can't be had here is missing, with its own remedy or what
    /// to do `otherwise`; every other error is one of the request and stays one.
    pub fn of(name: &str, made: Result<impl Executor + 'static>, otherwise: &str) -> Result<Self> {
        match made {
            Ok(executor) => Ok(Self::Ready(Arc::new(executor))),
            Err(error) if error.kind() == ErrorKind::Unavailable => Ok(Self::Missing {
                name: name.to_owned(),
                remedy: error.remedy().unwrap_or(otherwise).to_owned(),
                reason: error.reason(),
            }),
            Err(error) => Err(error),
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Ready(executor) => executor.name(),
            Self::Missing { name, .. } => name,
        }
    }

    fn candidate(&self) -> Candidate {
        let availability = match self {
            Self::Ready(executor) => Availability::Ready(executor.capabilities().level),
            Self::Missing { reason, remedy, .. } => {
                Availability::Missing { reason: reason.clone(), remedy: remedy.clone() }
            }
        };
        Candidate { name: self.name().to_owned(), availability }
    }
}

/// Executors in order of preference.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    entries: Vec<Detected>,
}

impl Registry {
    /// An empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one, less preferred than those before; one of the same name is replaced in its place.
    #[must_use]
    pub fn with(mut self, detected: Detected) -> Self {
        match self.entries.iter_mut().find(|entry| entry.name() == detected.name()) {
            Some(entry) => *entry = detected,
            None => self.entries.push(detected),
        }
        self
    }

    /// Names in order of preference.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(Detected::name)
    }

    /// The executor of this name; a miss lists what exists, a missing one says why.
    pub fn get(&self, name: &str) -> Result<Arc<dyn Executor>> {
        self.choose(&Request::Named { name: name.to_owned(), floor: None }).map(|(executor, _)| executor)
    }

    /// Chooses, and says who was passed over.
    pub fn choose(&self, request: &Request) -> Result<(Arc<dyn Executor>, Selection)> {
        let candidates: Vec<Candidate> = self.entries.iter().map(Detected::candidate).collect();
        let selection = select(request, &candidates)?;
        let executor = self.entries.iter().find_map(|entry| match entry {
            Detected::Ready(executor) if executor.name() == selection.name => Some(Arc::clone(executor)),
            _ => None,
        });
        executor.map(|executor| (executor, selection)).ok_or_else(|| unknown("", self.names()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R6
    #[test]
    fn a_miss_lists_what_exists_and_a_missing_one_says_why() {
        let missing = |name: &str| Detected::Missing {
            name: name.into(),
            reason: "no socket".into(),
            remedy: format!("start {name}"),
        };
        let registry = Registry::new().with(missing("docker")).with(missing("podman"));
        let miss = registry.get("dokcer").unwrap_err();
        assert_eq!(
            (miss.kind(), miss.remedy()),
            (ErrorKind::NotFound, Some("use one of these: docker, podman"))
        );
        let down = registry.get("podman").unwrap_err();
        assert_eq!((down.kind(), down.remedy()), (ErrorKind::Unavailable, Some("start podman")));
    }
}
