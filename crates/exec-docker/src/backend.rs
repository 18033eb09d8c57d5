//! Docker as a backend.

use async_trait::async_trait;
use exec_cell::{Backend, Engines, Setup};
use exec_container::{Answered, ContainerEngines, Endpoint, FindEngines};
use exec_core::{Detected, Remedy, Result};

use crate::executor::reach;
use crate::{DockerConfig, DockerExec, Here, NAME, candidates};

#[async_trait]
impl Backend for DockerConfig {
    fn name(&self) -> &str {
        NAME
    }

    fn description(&self) -> &'static str {
        "A Docker container"
    }

    fn has_images(&self) -> bool {
        true
    }

    async fn detect(&self, setup: Setup) -> Result<Detected> {
        let config = Self { host: self.host.clone(), containers: self.containers.set_up(setup) };
        Detected::of(DockerExec::new(config).await, Remedy::another_sandbox())
    }

    fn engines(&self) -> Option<Box<dyn Engines + '_>> {
        Some(Box::new(ContainerEngines(self)))
    }
}

#[async_trait]
impl FindEngines for DockerConfig {
    fn backend(&self) -> &str {
        NAME
    }

    fn places(&self) -> Vec<Endpoint> {
        let candidates = candidates(self.host.as_deref(), &Here).unwrap_or_default();
        candidates.into_iter().map(|candidate| candidate.endpoint).collect()
    }

    async fn reach(&self) -> Result<Answered> {
        reach(self).await
    }

    async fn reach_all(&self) -> Vec<Result<Answered>> {
        let mut answers = Vec::new();
        for place in self.places() {
            answers.push(reach(&Self { host: Some(place.to_string()), ..self.clone() }).await);
        }
        answers
    }
}
