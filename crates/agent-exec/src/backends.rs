//! The backends that sandboxes are chosen from, in order of preference. Only this list names the built-in ones.

#[cfg(any(test, not(all(feature = "docker", feature = "local", feature = "podman"))))]
mod not_built_in;

use std::sync::{Arc, LazyLock};

use exec_cell::{Backend, Engines};
use serde::Serialize;

#[cfg(any(test, not(all(feature = "docker", feature = "local", feature = "podman"))))]
pub(crate) use not_built_in::NotBuiltIn;

/// Backends in order of preference, each with a unique name.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use agent_exec::{Backends, builder};
/// # use agent_exec::{Backend, Detected, Result, Setup};
/// # #[derive(Debug)]
/// # struct MicroVm;
/// # #[async_trait::async_trait]
/// # impl Backend for MicroVm {
/// #     fn name(&self) -> &str { "microvm" }
/// #     async fn detect(&self, _: Setup) -> Result<Detected> {
/// #         Ok(Detected::Missing { reason: "none".into(), remedy: "none".into() })
/// #     }
/// # }
///
/// // Tried before Docker, Podman and local cells.
/// let preferred = Backends::default().with_first(Arc::new(MicroVm));
/// assert_eq!(preferred.describe()[0].name, "microvm");
/// // Tried when nothing else works.
/// let builder = builder().backends(Backends::default().with_last(Arc::new(MicroVm)));
/// ```
#[derive(Debug, Clone)]
pub struct Backends(Vec<Arc<dyn Backend>>);

/// The built-in backends, most preferred first. Made once: front ends ask for the list again and again.
static BUILT_IN: LazyLock<Vec<Arc<dyn Backend>>> = LazyLock::new(|| {
    vec![
        #[cfg(feature = "docker")]
        Arc::new(exec_docker::DockerConfig::default()),
        #[cfg(not(feature = "docker"))]
        Arc::new(NotBuiltIn("docker")),
        #[cfg(feature = "podman")]
        Arc::new(exec_podman::PodmanConfig::default()),
        #[cfg(not(feature = "podman"))]
        Arc::new(NotBuiltIn("podman")),
        #[cfg(feature = "local")]
        Arc::new(exec_local::LocalConfig::default()),
        #[cfg(not(feature = "local"))]
        Arc::new(NotBuiltIn("local")),
    ]
});

impl Default for Backends {
    /// The built-in backends: Docker, else Podman, else this machine's own namespaces.
    fn default() -> Self {
        Self(BUILT_IN.clone())
    }
}

/// Exactly these backends, most preferred first.
impl FromIterator<Arc<dyn Backend>> for Backends {
    fn from_iter<I: IntoIterator<Item = Arc<dyn Backend>>>(backends: I) -> Self {
        backends.into_iter().fold(Self(Vec::new()), Self::with_last)
    }
}

impl Backends {
    /// Adds a backend that is preferred to all others. It takes the place of a backend with the same name.
    #[must_use]
    pub fn with_first(self, backend: Arc<dyn Backend>) -> Self {
        self.with(0, backend)
    }

    /// Adds a backend that is tried after all others. It takes the place of a backend with the same name.
    #[must_use]
    pub fn with_last(self, backend: Arc<dyn Backend>) -> Self {
        let end = self.0.len();
        self.with(end, backend)
    }

    fn with(mut self, at: usize, backend: Arc<dyn Backend>) -> Self {
        match self.0.iter_mut().find(|known| known.name() == backend.name()) {
            Some(known) => *known = backend,
            None => self.0.insert(at, backend),
        }
        self
    }

    /// Returns the backend with this name, or else the one with this alias.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Backend>> {
        let by_name = self.iter().find(|backend| backend.name() == name);
        by_name.or_else(|| self.iter().find(|backend| backend.aliases().contains(&name)))
    }

    /// Iterates over the backends, most preferred first.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Backend>> {
        self.0.iter()
    }

    /// Describes each backend without looking for it, most preferred first.
    pub fn describe(&self) -> Vec<BackendInfo> {
        let info = |backend: &Arc<dyn Backend>| BackendInfo {
            name: backend.name().to_owned(),
            aliases: backend.aliases().iter().map(ToString::to_string).collect(),
            description: backend.description().to_owned(),
            has_images: backend.has_images(),
        };
        self.iter().map(info).collect()
    }

    /// Resolves an alias to its backend's name; any other text is returned as is.
    pub(crate) fn canonical<'a>(&'a self, name: &'a str) -> &'a str {
        self.get(name).map_or(name, |backend| backend.name())
    }

    /// The engines of every backend that has some, with the backend's name.
    pub(crate) fn engines(&self) -> impl Iterator<Item = (&str, Box<dyn Engines + '_>)> {
        self.iter().filter_map(|backend| Some((backend.name(), backend.engines()?)))
    }
}

/// A description of a backend, available without looking for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BackendInfo {
    /// The name that selects it.
    pub name: String,
    /// Other names that select it.
    pub aliases: Vec<String>,
    /// One line for help texts.
    pub description: String,
    /// Whether its commands run in images, so that options about images apply.
    pub has_images: bool,
}

/// Lists the built-in backends, most preferred first.
pub fn backends() -> Vec<BackendInfo> {
    Backends::default().describe()
}

#[cfg(test)]
mod tests;
