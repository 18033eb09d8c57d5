//! The lifecycle of our containers: from just before the engine learns of one until it is gone.

pub(crate) mod keeper;
pub(crate) mod out_of_memory;
pub(crate) mod preparation;

use std::collections::HashMap;
use std::sync::Once;

use exec_control::{Place, Watch, cell_name};
use exec_core::{Error, ErrorKind, OwnPlaces, Result};

use crate::cleanup::leftovers;
use crate::cleanup::reaper::Reaper;
use crate::engine::labels;
use crate::engine::{ContainerStates, Created, Engine, is_engine_gone, is_missing_image};
use crate::lifecycle::keeper::{ContainerKeeper, Made};
use crate::spec::ContainerSpec;

/// What every container of ours needs.
#[derive(Debug)]
pub(crate) struct ContainerLifecycle {
    pub(crate) engine: Engine,
    /// The engine's address.
    pub(crate) endpoint: String,
    pub(crate) watch: Watch,
    /// Places that no command may reach, including the engine's socket.
    pub(crate) own: OwnPlaces,
    pub(crate) states: ContainerStates,
    pub(crate) reaper: Reaper,
    /// Whether leftovers of dead owners were looked for.
    pub(crate) swept: Once,
}

impl ContainerLifecycle {
    /// Looks once for leftovers of dead owners, in the background. Not before the engine has created the first
    /// container, which a caller waits for: the engine has time while that one starts.
    pub(crate) fn sweep(&self) {
        self.swept.call_once(|| leftovers::sweep(&self.engine));
    }

    /// Names a container that is about to be created, and takes hold of it. The reaper removes its record after us,
    /// so it must know the name before the record exists.
    pub(crate) fn expect(&self) -> Result<(String, ContainerKeeper)> {
        let name = cell_name();
        self.reaper.watch(&name)?;
        let seat = self.watch.expect_as(name.clone(), self.engine.backend());
        let seat = seat.inspect_err(|_| self.reaper.forget(&name))?;
        let (states, reaper, buried, given_up) =
            (self.states.clone(), self.reaper.clone(), name.clone(), seat.clone());
        let buried = move || {
            states.forget(&buried);
            reaper.forget(&buried);
            given_up.gone();
        };
        let keeper = ContainerKeeper::watch(&self.engine, seat, self.states.expect(&name), buried);
        Ok((name, keeper))
    }

    /// The engine has confirmed the creation. Fails if the container must be removed at once.
    pub(crate) fn is_made(&self, keeper: &ContainerKeeper, made: Made) -> Result<()> {
        let place = Place::Container {
            id: made.id.clone(),
            endpoint: self.endpoint.clone(),
            same_kernel: made.same_kernel,
        };
        keeper.is_made(made);
        keeper.seat().stands(&place).map_err(|error| error.with_backend(self.engine.backend()))
    }

    /// The labels of a container of this name.
    pub(crate) fn labels(&self, name: &str) -> HashMap<String, String> {
        labels::of_cell(self.watch.owner(), self.watch.state(), name)
    }

    /// Handles the result of a creation, and explains its errors.
    pub(crate) fn created(
        &self,
        name: &str,
        created: Result<Created>,
        spec: &ContainerSpec,
    ) -> Result<Created> {
        self.sweep();
        match created {
            Ok(created) => {
                self.reaper.made(name);
                for warning in &created.warnings {
                    tracing::debug!(container = created.id, warning, "the engine warns");
                }
                Ok(created)
            }
            Err(error) if is_engine_gone(&error) => {
                // The engine never learned of the container, so repeated attempts leave nothing to clean up.
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
