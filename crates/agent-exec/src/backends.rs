//! The backends that are built in, in order of preference. The only place that names them: a new one is a field, a line in
//! [`Backends::probes`] and a line in [`Backends::prepare_for`].

use exec_core::ExecOpts;
use exec_watch::Watch;

use crate::probe::Probe;

/// How each backend is set up.
#[derive(Debug, Clone, Default)]
pub struct Backends {
    /// Docker.
    #[cfg(feature = "docker")]
    pub docker: exec_docker::DockerConfig,
    /// Podman.
    #[cfg(feature = "podman")]
    pub podman: exec_podman::PodmanConfig,
    /// This machine's own namespaces.
    #[cfg(feature = "local")]
    pub local: exec_local::LocalConfig,
}

impl Backends {
    /// A way to look for each, most preferred first. Nothing is looked for yet.
    pub(crate) fn probes(&self) -> Vec<Probe> {
        vec![
            #[cfg(feature = "docker")]
            Probe::new("docker", exec_docker::detect(self.docker.clone())),
            #[cfg(not(feature = "docker"))]
            Probe::not_built_in("docker"),
            #[cfg(feature = "podman")]
            Probe::new("podman", exec_podman::detect(self.podman.clone())),
            #[cfg(not(feature = "podman"))]
            Probe::not_built_in("podman"),
            #[cfg(feature = "local")]
            Probe::new("local", exec_local::detect(self.local.clone())),
            #[cfg(not(feature = "local"))]
            Probe::not_built_in("local"),
        ]
    }

    /// All of them write down what they do in one place.
    pub(crate) fn watched_by(&mut self, watch: &Watch) {
        #[cfg(feature = "docker")]
        {
            self.docker.containers.watch = watch.clone();
        }
        #[cfg(feature = "podman")]
        {
            self.podman.containers.watch = watch.clone();
        }
        #[cfg(feature = "local")]
        {
            self.local.watch = watch.clone();
        }
    }

    /// The first cell of whichever is chosen is made for a run with these options, by the backend's name.
    pub(crate) fn prepare_for(&mut self, opts: impl Fn(&str) -> Option<ExecOpts>) {
        #[cfg(feature = "docker")]
        {
            self.docker.containers.first_run = opts("docker");
        }
        #[cfg(feature = "podman")]
        {
            self.podman.containers.first_run = opts("podman");
        }
        #[cfg(feature = "local")]
        {
            self.local.first_run = opts("local");
        }
    }
}
