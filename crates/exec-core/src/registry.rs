//! The executors of this process, by name.

use std::sync::Arc;

use crate::select::unknown;
use crate::selected::Selected;
use crate::{
    Availability, Candidate, ErrorKind, Executor, Needs, Remedy, Request, Result, Selection, select,
};

/// The result of looking for an executor.
#[derive(Debug, Clone)]
pub enum Detected {
    /// The executor works.
    Ready(Arc<dyn Executor>),
    /// The executor does not work here.
    Missing {
        /// What was found.
        reason: String,
        /// What would make it work.
        remedy: Remedy,
    },
}

impl Detected {
    /// Converts the result of making an executor.
    ///
    /// An executor that is unavailable here is `Missing`, with the error's remedy or else with `otherwise`.
    ///
    /// # Errors
    ///
    /// Returns every error of another kind: it is about the request, not about this machine.
    pub fn of(made: Result<impl Executor + 'static>, otherwise: impl Into<Remedy>) -> Result<Self> {
        match made {
            Ok(executor) => Ok(Self::Ready(Arc::new(executor))),
            Err(error) if error.kind() == ErrorKind::Unavailable => Ok(Self::Missing {
                remedy: error.remedy().cloned().unwrap_or_else(|| otherwise.into()),
                reason: error.reason(),
            }),
            Err(error) => Err(error),
        }
    }

    fn availability(&self) -> Availability {
        match self {
            Self::Ready(executor) => Availability::Ready(executor.capabilities().clone()),
            Self::Missing { reason, remedy } => {
                Availability::Missing { reason: reason.clone(), remedy: remedy.clone() }
            }
        }
    }
}

/// Executors by name, in order of preference.
///
/// # Examples
///
/// ```
/// use exec_core::{Detected, ErrorKind, Registry};
///
/// let missing = Detected::Missing {
///     reason: "no socket at /var/run/docker.sock".into(),
///     remedy: "start Docker".into(),
/// };
/// let registry = Registry::new().with("docker", missing);
/// let error = registry.get("docker").unwrap_err();
/// assert_eq!((error.kind(), error.remedy()), (ErrorKind::Unavailable, Some(&"start Docker".into())));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Registry {
    entries: Vec<Entry>,
}

#[derive(Debug, Clone)]
struct Entry {
    name: String,
    /// `None` if the executor was not probed.
    detected: Option<Detected>,
    ruled_out: Option<String>,
}

impl Registry {
    /// An empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an executor, less preferred than those before. An executor of the same name is replaced in its place.
    ///
    /// Once chosen, the executor and its results carry this name, whatever the executor calls itself.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, detected: Detected) -> Self {
        self.entry(name.into()).detected = Some(detected);
        self
    }

    /// Adds the name of an executor that was not probed, unless the name is already known.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.entry(name.into());
        self
    }

    /// Excludes an executor unless it is requested by name. `by` is the reason: `ENABLE_DOCKER=false`.
    #[must_use]
    pub fn ruling_out(mut self, name: impl Into<String>, by: impl Into<String>) -> Self {
        self.entry(name.into()).ruled_out = Some(by.into());
        self
    }

    /// Names in order of preference.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.name.as_str())
    }

    /// Returns the executor of this name.
    ///
    /// # Errors
    ///
    /// `NotFound` lists the known names; `Unavailable` carries the reason and its remedy.
    pub fn get(&self, name: &str) -> Result<Arc<dyn Executor>> {
        let request = Request::Named { name: name.to_owned(), floor: None };
        self.choose(&request, |_| Needs::default()).map(|(executor, _)| executor)
    }

    /// Chooses an executor and returns it with the selection that led to it. Every result of the executor carries that
    /// selection too. `needs` returns what a run needs of the executor of that name.
    ///
    /// # Errors
    ///
    /// As [`select`].
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
            reason: "no socket".into(),
            remedy: format!("start {name}").into(),
        };
        let registry = Registry::new().with("docker", missing("docker")).with("podman", missing("podman"));
        let miss = registry.get("dokcer").unwrap_err();
        assert_eq!(
            (miss.kind(), miss.remedy()),
            (ErrorKind::NotFound, Some(&Remedy::from("use one of these: docker, podman")))
        );
        let down = registry.get("podman").unwrap_err();
        assert_eq!(
            (down.kind(), down.remedy()),
            (ErrorKind::Unavailable, Some(&Remedy::from("start podman")))
        );
    }
}
