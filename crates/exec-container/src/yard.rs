//! Where containers of ours come and go: from the moment before the engine hears of one until it is gone.

use exec_core::{Error, ErrorKind, Result};

use crate::engine::{Created, Engine, Lives, is_engine_gone, is_missing_image};
use crate::keeper::ContainerKeeper;
use crate::labels::{Owner, unique};
use crate::reaper::Reaper;
use crate::spec::ContainerSpec;

/// What every container of ours takes.
#[derive(Debug)]
pub(crate) struct Yard {
    pub(crate) engine: Engine,
    pub(crate) owner: Owner,
    pub(crate) lives: Lives,
    pub(crate) reaper: Reaper,
}

impl Yard {
    /// A name for a container that is about to be created, and the hold on it.
    pub(crate) fn expect(&self) -> Result<(String, ContainerKeeper)> {
        let name = unique(&format!("agentctl-{}", std::process::id()));
        self.reaper.watch(&name)?;
        let (lives, reaper, buried) = (self.lives.clone(), self.reaper.clone(), name.clone());
        let buried = move || {
            lives.forget(&buried);
            reaper.forget(&buried);
        };
        let keeper = ContainerKeeper::watch(&self.engine, &name, self.lives.expect(&name), buried);
        Ok((name, keeper))
    }

    /// What came of creating a container, for people.
    pub(crate) fn created(
        &self,
        name: &str,
        created: Result<Created>,
        spec: &ContainerSpec,
    ) -> Result<Created> {
        match created {
            Ok(created) => {
                self.reaper.made(name);
                for warning in &created.warnings {
                    tracing::debug!(container = created.id, warning, "the engine warns");
                }
                Ok(created)
            }
            Err(error) if is_engine_gone(&error) => {
                // It never heard of the container; whoever tries again and again has nothing to clean up after.
                self.reaper.forget(name);
                Err(error)
            }
            Err(error) if is_missing_image(&error) => Err(Error::new(
                ErrorKind::ImageNotFound,
                "make cell",
                format!("the image {} was removed from the engine", spec.image_name),
            )
            .with_backend(self.engine.backend())
            .with_source(error)
            .with_remedy("try again: it is looked up, and pulled or made anew")),
            Err(error) => Err(error),
        }
    }
}
