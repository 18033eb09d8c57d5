//! The executors of this process, by name.

use std::sync::Arc;

use crate::select::unknown;
use crate::selected::Selected;
use crate::{Availability, Candidate, ErrorKind, Executor, Needs, Request, Result, Selection, select};

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

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Ready(executor) => executor.name(),
            Self::Missing { name, .. } => name,
        }
    }

    fn availability(&self) -> Availability {
        match self {
            Self::Ready(executor) => Availability::Ready(executor.capabilities().clone()),
            Self::Missing { reason, remedy, .. } => {
                Availability::Missing { reason: reason.clone(), remedy: remedy.clone() }
            }
        }
    }
}

/// Executors in order of preference.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    entries: Vec<Entry>,
}

#[derive(Debug, Clone)]
struct Entry {
    name: String,
    /// None where nobody has looked.
    detected: Option<Detected>,
    ruled_out: Option<String>,
}

impl Registry {
    /// An empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one, less preferred than those before; one of the same name is replaced in its place.
    #[must_use]
    pub fn with(mut self, detected: Detected) -> Self {
        let entry = self.entry(detected.name().to_owned());
        entry.detected = Some(detected);
        self
    }

    /// Adds the name of one that nobody has looked for, unless it is known already.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.entry(name.into());
        self
    }

    /// Leaves one out of consideration unless it is asked for by name, because of this: `ENABLE_DOCKER=false`.
    #[must_use]
    pub fn ruling_out(mut self, name: impl Into<String>, by: impl Into<String>) -> Self {
        self.entry(name.into()).ruled_out = Some(by.into());
        self
    }

    /// Names in order of preference.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.name.as_str())
    }

    /// The executor of this name; a miss lists what exists, a missing one says why.
    pub fn get(&self, name: &str) -> Result<Arc<dyn Executor>> {
        let request = Request::Named { name: name.to_owned(), floor: None };
        self.choose(&request, |_| Needs::default()).map(|(executor, _)| executor)
    }

    /// Chooses, for runs that have these needs of the executor of that name, and says who was passed over. So does every
    /// result of the executor.
    pub fn choose(
        &self,
        request: &Request,
        needs: impl Fn(&str) -> Needs,
    ) -> Result<(Arc<dyn Executor>, Arc<Selection>)> {
        let candidates: Vec<Candidate> = self.entries.iter().map(Entry::candidate).collect();
        let selection = Arc::new(select(request, needs, &candidates)?);
        let chosen = self.entries.iter().find(|entry| entry.name == selection.name);
        match chosen.and_then(|entry| entry.detected.as_ref()) {
            Some(Detected::Ready(executor)) => {
                let (executor, by) = (Arc::clone(executor), Arc::clone(&selection));
                Ok((Arc::new(Selected { executor, selection: by }), selection))
            }
            _ => Err(unknown(&selection.name, self.names())),
        }
    }

    fn entry(&mut self, name: String) -> &mut Entry {
        let known = self.entries.iter().position(|entry| entry.name == name);
        let at = known.unwrap_or_else(|| {
            self.entries.push(Entry { name, detected: None, ruled_out: None });
            self.entries.len() - 1
        });
        &mut self.entries[at]
    }
}

impl Entry {
    fn candidate(&self) -> Candidate {
        Candidate {
            name: self.name.clone(),
            availability: self.detected.as_ref().map_or(Availability::NotTried, Detected::availability),
            ruled_out: self.ruled_out.clone(),
        }
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
