//! An executor on an engine that answered.

use std::sync::Once;

use exec_cell::CellExecutor;
use exec_core::{EngineInfo, Executor, Result};

use crate::direct::{self, DirectExecutor};
use crate::draft::Drafter;
use crate::engine::{Engine, Lives};
use crate::labels::OWNER;
use crate::lane::Lanes;
use crate::maker::{ContainerMaker, Shop};
use crate::own::Own;
use crate::profile::EngineProfile;
use crate::reaper::{Duty, Reaper};
use crate::supervisor::{InitPlacement, Supervisor, cache_directory};
use crate::yard::Yard;
use crate::{ContainerConfig, Endpoint, Greeting, Lifeline, Patience, isolation};

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
/// say what that is not. The container of the first run is made here, if the configuration says what that will be: an engine
/// that answers and yet can't give one is an error now, not then.
pub async fn executor(engine: Answered, backend: &str, config: ContainerConfig) -> Result<Box<dyn Executor>> {
    let Answered { endpoint, greeting, lifeline } = engine;
    let engine = Engine::connect(&endpoint, &greeting, backend, config.patience)?;
    let own = Own::look();
    let info = match &lifeline {
        Some(_) => own.says_for(greeting.version.as_deref()),
        None => engine.info().await?,
    };
    let profile = EngineProfile::new(&greeting, &info, &own);
    let watch = config.watch.clone();
    let lives = Lives::follow(&engine, (OWNER, &watch.owner().id));
    let lanes = Lanes::below(&cache_directory())
        .filter(|_| profile.same_kernel && config.init == InitPlacement::Auto);
    let duty = Duty {
        lanes: lanes.as_ref().map(|lanes| lanes.directory().clone()),
        dialect: profile.dialect,
        lifeline,
    };
    let reaper = Reaper::new(&endpoint, backend, duty).await?;
    let program = profile.arch().and_then(exec_init::for_arch);
    let (init, pool, first_run) = (config.init, config.pool(), config.first_run.clone());
    let drafter = Drafter::new(engine.clone(), endpoint.clone(), config, profile);
    let description = Some(EngineInfo {
        make: greeting.product.to_string(),
        version: drafter.profile.version.clone(),
        at: endpoint.to_string(),
    });
    let yard = Yard { engine, endpoint: endpoint.to_string(), watch, lives, reaper, swept: Once::new() };
    if first_run.is_none() {
        yard.sweep();
    }
    let Some(program) = program.filter(|_| init != InitPlacement::Direct) else {
        let mut capabilities = direct::capabilities(&drafter.profile, yard.reaper.is_there());
        capabilities.engine = description;
        let executor = DirectExecutor::new(yard, drafter.without(direct::INIT_DIRECTORY), capabilities);
        if let Some(opts) = &first_run {
            executor.warm(opts).await?;
        }
        return Ok(Box::new(executor));
    };
    let supervisor = Supervisor::place(program, init, backend)?;
    let mut capabilities = isolation::capabilities(&drafter.profile);
    capabilities.engine = description;
    let maker = ContainerMaker::new(Shop { yard, supervisor, lanes }, drafter, capabilities);
    let executor = CellExecutor::new(maker, pool);
    if let Some(opts) = &first_run {
        executor.prepare_first(opts).await?;
    }
    Ok(Box::new(executor))
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
