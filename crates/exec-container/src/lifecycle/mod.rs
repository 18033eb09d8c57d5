//! Where containers of ours come and go: from the moment before the engine hears of one until it is gone.

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

/// What every container of ours takes.
#[derive(Debug)]
pub(crate) struct ContainerLifecycle {
    pub(crate) engine: Engine,
    /// Where the engine listens.
    pub(crate) endpoint: String,
    pub(crate) watch: Watch,
    /// What no command may reach, the engine's socket included.
    pub(crate) own: OwnPlaces,
    pub(crate) states: ContainerStates,
    pub(crate) reaper: Reaper,
    /// Whether what dead owners left was looked for.
    pub(crate) swept: Once,
}

impl ContainerLifecycle {
    /// Looks once for what dead owners left, beside whatever else goes on. Not before the engine has made the first
    /// container, which somebody waits for: while it starts that one, the engine has the time.
    pub(crate) fn sweep(&self) {
        self.swept.call_once(|| leftovers::sweep(&self.engine));
    }

    /// A name for a container that is about to be created, and the hold on it. Whoever takes its record away after us has to
    /// know of it before there is one.
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

    /// The engine has confirmed that it made it. An error if it has to go at once.
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

    /// What came of creating a container, for people.
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
