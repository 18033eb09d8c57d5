//! An executor on an engine that answered.

use exec_cell::CellExecutor;
use exec_core::{Error, ErrorKind, Result};
use exec_host::HostView;

use crate::engine::{Engine, Lives};
use crate::labels::{OWNER, Owner};
use crate::maker::Shop;
use crate::profile::{self, EngineProfile};
use crate::reaper::Reaper;
use crate::supervisor::Supervisor;
use crate::{ContainerConfig, ContainerMaker, Endpoint, Greeting, isolation, leftovers};

/// Runs commands in containers of one engine.
pub type ContainerExecutor = CellExecutor<ContainerMaker>;

/// An executor on the engine at this endpoint, which answered with this greeting; `backend` is the name it is chosen by.
pub async fn executor(
    endpoint: &Endpoint,
    greeting: &Greeting,
    backend: &str,
    config: ContainerConfig,
) -> Result<ContainerExecutor> {
    let engine = Engine::connect(endpoint, greeting, backend, config.patience)?;
    let info = engine.info().await?;
    let profile = EngineProfile::new(greeting, &info, profile::own_kernel().as_deref(), profile::caller());
    leftovers::sweep(&engine);
    let program = profile.arch().and_then(exec_init::for_arch).ok_or_else(|| {
        Error::new(ErrorKind::Unsupported, "connect", "there is no exec-init for the engine's architecture")
            .with_backend(backend)
            .with_context("architecture", &profile.architecture)
    })?;
    let supervisor = Supervisor::place(program, config.init, backend)?;
    let owner = Owner::this_process();
    let lives = Lives::follow(&engine, (OWNER, &owner.id));
    let host = profile.same_kernel.then(|| HostView::look(&|name| std::env::var_os(name)));
    let capabilities = isolation::capabilities(&info);
    let pool = config.pool();
    let reaper = Reaper::new(endpoint, backend).await?;
    let shop = Shop { engine, owner, lives, reaper, supervisor };
    Ok(CellExecutor::new(ContainerMaker::new(shop, profile, capabilities, config, host), pool))
}
