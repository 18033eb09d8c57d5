//! Creates an executor on an engine that answered.

use std::sync::Once;

use exec_cell::CellExecutor;
use exec_control::Watch;
use exec_core::{EngineInfo, Error, ErrorKind, Executor, Remedy, Result};
use exec_init::{Arch, Program};
use exec_wire::reaper::Directory;

use crate::channel::fifo::FifoChannels;
use crate::cleanup::reaper::{Reaper, ReaperSetup};
use crate::engine::labels::OWNER;
use crate::engine::profile::EngineProfile;
use crate::engine::{ContainerStates, Engine};
use crate::host::cache;
use crate::host::facts::HostFacts;
use crate::host::fingerprint::fingerprint;
use crate::init::InitPlacement;
use crate::lifecycle::ContainerLifecycle;
use crate::lifecycle::preparation::Preparation;
use crate::maker::{ContainerMaker, MakerParts};
use crate::spec::builder::SpecBuilder;
use crate::spec::isolation;
use crate::{ContainerConfig, Endpoint, Greeting, Lifeline, Patience};

/// An engine that answered.
#[derive(Debug)]
pub struct Answered {
    /// Its address.
    pub endpoint: Endpoint,
    /// Its answer.
    pub greeting: Greeting,
    /// Keeps it alive, if it was started for us.
    pub lifeline: Option<Lifeline>,
    /// The system call filter of containers, if not the engine's own choice.
    pub filter: Option<String>,
}

impl Answered {
    /// An engine that was not started by us.
    pub fn at(endpoint: Endpoint, greeting: Greeting) -> Self {
        Self { endpoint, greeting, lifeline: None, filter: None }
    }
}

/// Creates an executor on the engine once that is found; `backend` is the name it is selected by.
///
/// If the configuration has the options of the first run, its container is created here, so that an engine that
/// answers but can't create one fails now and not at the first run.
pub async fn executor(
    engine: impl Future<Output = Result<Answered>>,
    backend: &str,
    config: ContainerConfig,
) -> Result<Box<dyn Executor>> {
    let (found, preparation) = Preparation::beside(engine, config.init, backend).await?;
    let Answered { endpoint, greeting, lifeline, filter } = found;
    let engine = Engine::connect(&endpoint, &greeting, backend, config.patience)?;
    let host = HostFacts::look();
    let info = match &lifeline {
        Some(_) => host.says_for(greeting.version.as_deref()),
        None => engine.info().await?,
    };
    let mut profile = EngineProfile::new(&greeting, &info, &host);
    let program = program_for(&profile.architecture).map_err(|error| error.with_backend(backend))?;
    let filter = filter.filter(|_| config.init == InitPlacement::Auto);
    profile.syscall_filter = filter.map(|filter| keep_filter(&filter, backend)).transpose()?;
    let watch = config.watch.clone();
    let states = ContainerStates::follow(&engine, (OWNER, &watch.owner().id), &profile.dialect);
    let fifo_channels = FifoChannels::below(&cache::directory())
        .filter(|_| profile.same_kernel && config.init == InitPlacement::Auto);
    let setup = ReaperSetup {
        fifo_channels: fifo_channels.as_ref().map(|fifo_channels| fifo_channels.directory().clone()),
        records: records(&watch),
        log_note: Directory::new(watch.log_note().into_os_string().into_encoded_bytes()).ok(),
        dialect: profile.dialect,
        lifeline,
    };
    let reaper = Reaper::new(&endpoint, backend, setup).await?;
    let (pool, first_run) = (config.pool(), config.first_run.clone());
    let spec_builder = SpecBuilder::new(engine.clone(), endpoint.clone(), config, profile);
    let description = Some(EngineInfo {
        make: greeting.product.to_string(),
        version: spec_builder.profile.version.clone(),
        at: endpoint.to_string(),
    });
    let own = match &endpoint {
        Endpoint::Unix(socket) => watch.own_places().clone().with_engine(socket),
        _ => watch.own_places().clone(),
    };
    let lifecycle = ContainerLifecycle {
        engine,
        endpoint: endpoint.to_string(),
        watch,
        own,
        states,
        reaper,
        swept: Once::new(),
    };
    if first_run.is_none() {
        lifecycle.sweep();
    }
    let supervisor = preparation.supervisor(program)?;
    let mut capabilities = isolation::capabilities(&spec_builder.profile);
    capabilities.engine = description;
    let maker =
        ContainerMaker::new(MakerParts { lifecycle, supervisor, fifo_channels }, spec_builder, capabilities);
    let executor = CellExecutor::new(maker, pool);
    if let Some(opts) = &first_run {
        executor.prepare_first(opts).await?;
    }
    Ok(Box::new(executor))
}

/// PID 1 for containers of this architecture.
fn program_for(architecture: &str) -> Result<Program> {
    let arch = Arch::from_name(architecture);
    arch.and_then(exec_init::for_arch).ok_or_else(|| {
        let remedy = match arch {
            Some(arch) => format!(
                "build it in: `rustup target add {arch}-unknown-linux-musl`, then build this program again with \
                 `cargo build --release`"
            ),
            None => "use an engine on x86_64 or aarch64".to_owned(),
        };
        Error::new(
            ErrorKind::Unavailable,
            "connect",
            format!("this program carries no exec-init for the engine's architecture, `{architecture}`"),
        )
        .with_remedy(Remedy::host(remedy))
    })
}

/// Stores a system call filter where an engine that wants its path finds it.
fn keep_filter(filter: &str, backend: &str) -> Result<String> {
    let name = format!("seccomp-{:016x}.json", fingerprint(filter.as_bytes()));
    cache::keep(&name, filter.as_bytes(), backend)
}

/// The path prefixes of container records. A path too long for the helper is left to a later cleanup.
fn records(watch: &Watch) -> Vec<Directory> {
    let prefixes = watch.record_prefixes().into_iter();
    prefixes.filter_map(|prefix| Directory::new(prefix.into_encoded_bytes()).ok()).collect()
}

/// The name of the runtime that an engine uses by default.
pub async fn default_runtime(
    endpoint: &Endpoint,
    greeting: &Greeting,
    backend: &str,
    patience: Patience,
) -> Result<Option<String>> {
    let info = Engine::connect(endpoint, greeting, backend, patience)?.info().await?;
    Ok(info.default_runtime.filter(|runtime| !runtime.is_empty()))
}
