//! From a specification to a command that runs: create, look at what the engine made of it, attach, start.

use std::sync::Arc;

use bollard::container::AttachContainerResults;
use exec_cell::{ENGINE_LIMITS, Keeper, require_limits, start_error};
use exec_core::{Capabilities, Error, Isolation, Plan, Result, RunId};
use exec_watch::{Begun, RunNote};
use tokio::time::Instant;

use super::body::body;
use super::command::Command;
use super::run::{DirectRun, Surroundings};
use super::{failure, isolation};
use crate::keeper::{ContainerKeeper, Made};
use crate::profile::EngineProfile;
use crate::spec::ContainerSpec;
use crate::yard::Yard;

/// All that a start takes.
#[derive(Debug)]
pub(super) struct Launch {
    pub(super) yard: Arc<Yard>,
    pub(super) profile: EngineProfile,
    pub(super) capabilities: Arc<Capabilities>,
    pub(super) spec: ContainerSpec,
    pub(super) command: Command,
    pub(super) plan: Plan,
    pub(super) begun: Instant,
    pub(super) id: RunId,
}

/// A command that was started.
struct Raised {
    streams: AttachContainerResults,
    isolation: Isolation,
    note: RunNote,
}

impl Launch {
    /// Starts the command. A container that comes to nothing is removed.
    pub(super) async fn run(self) -> Result<Arc<DirectRun>> {
        let (name, keeper) = self.yard.expect()?;
        match self.raise(&name, &keeper).await {
            Ok(Raised { streams, isolation, note }) => {
                let surroundings =
                    Surroundings { yard: self.yard, name, keeper, isolation, begun: self.begun, note };
                Ok(DirectRun::attend(surroundings, streams, self.plan, self.command.input))
            }
            Err(error) => {
                keeper.kill();
                Err(error)
            }
        }
    }

    async fn raise(&self, name: &str, keeper: &ContainerKeeper) -> Result<Raised> {
        let engine = &self.yard.engine;
        let body = body(&self.spec, &self.command, &self.profile, self.yard.labels(name));
        let created = self.yard.created(name, engine.create(name, body).await, &self.spec)?;
        let made = Made { id: created.id, same_kernel: self.profile.same_kernel };
        self.yard.is_made(keeper, made)?;
        let settings = engine.settings(name).await?;
        let isolation = isolation::report(&self.capabilities, &self.spec, &settings, &self.profile);
        require_limits(&self.plan, &isolation, engine.backend(), ENGINE_LIMITS)?;
        let note = self.yard.watch.begin(Begun {
            id: &self.id,
            cell: keeper.seat(),
            backend: engine.backend(),
            plan: &self.plan,
            isolation: &isolation,
        })?;
        let started = async {
            let streams = engine.attach(name, self.command.input).await?;
            engine.start(name).await.map_err(|error| self.explain(error))?;
            Ok(streams)
        };
        match started.await {
            Ok(streams) => Ok(Raised { streams, isolation, note }),
            Err(error) => {
                note.failed(&error);
                Err(error)
            }
        }
    }

    fn explain(&self, error: Error) -> Error {
        match failure::of_runtime(&error) {
            Some(failed) => start_error(&self.plan, &failed, self.yard.engine.backend()),
            None => failure::explain_start(error),
        }
    }
}
