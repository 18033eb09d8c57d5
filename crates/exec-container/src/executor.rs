//! An executor on an engine that answered.

use exec_cell::CellExecutor;
use exec_core::{Executor, Result};

use crate::direct::{self, DirectExecutor};
use crate::draft::Drafter;
use crate::engine::{Engine, Lives};
use crate::labels::{OWNER, Owner};
use crate::maker::Shop;
use crate::own::Own;
use crate::profile::EngineProfile;
use crate::reaper::Reaper;
use crate::supervisor::{InitPlacement, Supervisor};
use crate::yard::Yard;
use crate::{ContainerConfig, ContainerMaker, Endpoint, Greeting, Lifeline, Patience, isolation, leftovers};

/// An engine that answered.
#[derive(Debug)]
pub struct Answered {
    /// Where it is.
    pub endpoint: Endpoint,
    /// What it said.
    pub greeting: Greeting,
    /// What it hangs on, if it was started for us.
    pub lifeline: Option<Lifeline>,
}

/// An executor on this engine; `backend` is the name it is chosen by.
/// Where we have no PID 1 for the engine's architecture, every command gets a container of its own, and the capabilities
/// say what that is not.
pub async fn executor(engine: Answered, backend: &str, config: ContainerConfig) -> Result<Box<dyn Executor>> {
    let Answered { endpoint, greeting, lifeline } = engine;
    let engine = Engine::connect(&endpoint, &greeting, backend, config.patience)?;
    let info = engine.info().await?;
    let profile = EngineProfile::new(&greeting, &info, &Own::look());
    leftovers::sweep(&engine);
    let owner = Owner::this_process();
    let lives = Lives::follow(&engine, (OWNER, &owner.id));
    let reaper = Reaper::new(&endpoint, backend, profile.dialect, lifeline).await?;
    let program = profile.arch().and_then(exec_init::for_arch);
    let (init, pool) = (config.init, config.pool());
    let drafter = Drafter::new(engine.clone(), config, profile);
    let yard = Yard { engine, owner, lives, reaper };
    let Some(program) = program.filter(|_| init != InitPlacement::Direct) else {
        let capabilities = direct::capabilities(&drafter.profile, yard.reaper.is_there());
        let drafter = drafter.without(direct::INIT_DIRECTORY);
        return Ok(Box::new(DirectExecutor::new(yard, drafter, capabilities)));
    };
    let supervisor = Supervisor::place(program, init, backend)?;
    let capabilities = isolation::capabilities(&drafter.profile);
    let maker = ContainerMaker::new(Shop { yard, supervisor }, drafter, capabilities);
    Ok(Box::new(CellExecutor::new(maker, pool)))
}

/// The runtime that makes an engine's containers, as it names it.
pub async fn default_runtime(
    endpoint: &Endpoint,
    greeting: &Greeting,
    backend: &str,
    patience: Patience,
) -> Result<Option<String>> {
    let info = Engine::connect(endpoint, greeting, backend, patience)?.info().await?;
    Ok(info.default_runtime.filter(|runtime| !runtime.is_empty()))
}
