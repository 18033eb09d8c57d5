//! Podman as a backend.

use async_trait::async_trait;
use exec_cell::{Backend, Engines, Setup};
use exec_container::{Answered, ContainerEngines, Endpoint, FindEngines};
use exec_core::{Detected, Remedy, Result};

use crate::executor::reach;
use crate::{Candidate, Here, NAME, PodmanConfig, PodmanExec, candidates, service};

#[async_trait]
impl Backend for PodmanConfig {
    fn name(&self) -> &str {
        NAME
    }

    fn description(&self) -> &'static str {
        "A Podman container"
    }

    fn has_images(&self) -> bool {
        true
    }

    async fn detect(&self, setup: Setup) -> Result<Detected> {
        let config = Self { host: self.host.clone(), containers: self.containers.set_up(setup) };
        Detected::of(PodmanExec::new(config).await, Remedy::another_sandbox())
    }

    fn engines(&self) -> Option<Box<dyn Engines + '_>> {
        Some(Box::new(ContainerEngines(self)))
    }
}

impl PodmanConfig {
    fn candidates(&self) -> Vec<Candidate> {
        candidates(self.host.as_deref(), &Here).unwrap_or_default()
    }
}

#[async_trait]
impl FindEngines for PodmanConfig {
    fn backend(&self) -> &str {
        NAME
    }

    fn places(&self) -> Vec<Endpoint> {
        self.candidates().into_iter().map(|candidate| candidate.endpoint).collect()
    }

    /// Podman usually runs without a service. Then we start one of our own, which ends with the answer.
    async fn reach(&self) -> Result<Answered> {
        reach(self).await
    }

    /// If a particular Podman is configured, a service of our own may have been one of another Podman.
    fn ended_with_its_owner(&self, address: &Endpoint) -> bool {
        let is_named = self.candidates().iter().any(|place| place.origin.is_authoritative());
        !is_named && service::is_of_our_own(address)
    }
}
