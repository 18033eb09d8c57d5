//! Creates containers and turns them into cells.

use std::sync::Arc;

use async_trait::async_trait;
use exec_cell::{CellIo, CellMaker, Keeper};
use exec_control::Watch;
use exec_core::{Capabilities, Error, ErrorKind, Isolation, OwnPlaces, Plan, Prepared, Remedy, Result};
use exec_wire::{ContainerPlan, Expected, Facts, Fatal, LandlockPlan, Resource, Rlimit, ToCell};
use tokio::io::{AsyncRead, AsyncWriteExt};

use crate::Attached;
use crate::channel::fifo::{FifoChannel, FifoChannels};
use crate::engine::profile::EngineProfile;
use crate::engine::{Created, is_missing_bind_source, is_missing_image};
use crate::init::{Placement, Supervisor};
use crate::lifecycle::ContainerLifecycle;
use crate::lifecycle::keeper::{ContainerKeeper, Made};
use crate::lifecycle::out_of_memory::{Notice, StreamEnd, killed_for_memory};
use crate::spec::body::body;
use crate::spec::builder::SpecBuilder;
use crate::spec::isolation;
use crate::spec::{ContainerSpec, Mount};

/// Creates containers on one engine.
#[derive(Debug)]
pub(crate) struct ContainerMaker {
    parts: Arc<MakerParts>,
    spec_builder: SpecBuilder,
    capabilities: Capabilities,
}

/// The parts needed to create a container.
#[derive(Debug)]
pub(crate) struct MakerParts {
    pub(crate) lifecycle: ContainerLifecycle,
    pub(crate) supervisor: Supervisor,
    /// `None` if the engine is on another kernel.
    pub(crate) fifo_channels: Option<FifoChannels>,
}

impl ContainerMaker {
    pub(crate) fn new(parts: MakerParts, spec_builder: SpecBuilder, capabilities: Capabilities) -> Self {
        Self { parts: Arc::new(parts), spec_builder, capabilities }
    }

    async fn try_make(&self, spec: &ContainerSpec) -> Result<CellIo> {
        let (parts, spec, profile) =
            (Arc::clone(&self.parts), spec.clone(), self.spec_builder.profile.clone());
        // A separate task: a caller that stops waiting leaves no half-made container behind. Its result is then
        // dropped, which ends the container.
        match tokio::spawn(async move { parts.make(&spec, &profile).await }).await {
            Ok(made) => made,
            Err(_) => Err(Error::new(ErrorKind::Engine, "make cell", "making the container was interrupted")
                .with_backend(self.parts.lifecycle.engine.backend())),
        }
    }
}

#[async_trait]
impl CellMaker for ContainerMaker {
    type Spec = ContainerSpec;

    fn name(&self) -> &str {
        self.parts.lifecycle.engine.backend()
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    async fn adjust(&self, plan: &mut Plan) -> Result<()> {
        self.spec_builder.adjust(plan).await
    }

    fn spec(&self, plan: &Prepared) -> Result<ContainerSpec> {
        self.spec_builder.spec(plan)
    }

    fn watch(&self) -> &Watch {
        &self.parts.lifecycle.watch
    }

    fn own_places(&self) -> &OwnPlaces {
        &self.parts.lifecycle.own
    }

    async fn make(&self, spec: &ContainerSpec) -> Result<CellIo> {
        match self.try_make(spec).await {
            Err(error) if self.spec_builder.lacks_host_image(&spec.image, &error) => {
                self.spec_builder.provide_host_image().await?;
                self.try_make(spec).await
            }
            made => made,
        }
    }

    fn explain(&self, error: Error) -> Error {
        let Some(Fatal::MountMismatch { path, why }) = exec_cell::fatal(&error) else { return error };
        let message = format!("the engine shows something else at `{path}` than this machine has there");
        let explained =
            Error::new(ErrorKind::InvalidInput, "make cell", message).with_backend(self.name()).with_remedy(
                Remedy::from("try again if it was replaced just now")
                    .or(Remedy::engine("run where the engine shares this machine's files"))
                    .or(Remedy::engine("share the directory with the engine")),
            );
        match why {
            Some(why) => explained.with_context("there", why),
            None => explained,
        }
    }

    fn isolation(&self, spec: &ContainerSpec, facts: &Facts) -> Isolation {
        isolation::report(spec, facts, &self.spec_builder.profile)
    }

    fn rlimits(&self, plan: &Plan, _: &Facts) -> Vec<Rlimit> {
        let files = plan.limits.open_files.map(|files| (Resource::OpenFiles, files.into()));
        let size = plan.limits.file_size.map(|size| (Resource::FileSize, size.get()));
        files.into_iter().chain(size).map(|(resource, value)| Rlimit { resource, value }).collect()
    }
}

impl MakerParts {
    async fn make(&self, spec: &ContainerSpec, profile: &EngineProfile) -> Result<CellIo> {
        let (name, keeper) = self.lifecycle.expect()?;
        match self.raise(&name, spec, profile, &keeper).await {
            Ok(Attached { reader, writer }) => {
                let reader = self.watched(name, reader, profile, &keeper);
                let seat = keeper.seat().clone();
                Ok(CellIo { reader, writer, keeper: Box::new(keeper), seat })
            }
            Err(error) => {
                if is_missing_image(&error) {
                    keeper.is_refused();
                } else {
                    keeper.kill();
                }
                Err(error)
            }
        }
    }

    async fn raise(
        &self,
        name: &str,
        spec: &ContainerSpec,
        profile: &EngineProfile,
        keeper: &ContainerKeeper,
    ) -> Result<Attached> {
        let mut fifo_channel = self.fifo_channel();
        let created = self.create(name, spec, profile, &mut fifo_channel).await;
        let created = self.lifecycle.created(name, created, spec)?;
        self.lifecycle.is_made(keeper, Made { id: created.id, same_kernel: profile.same_kernel })?;
        let engine = &self.lifecycle.engine;
        let mut attached = Attached::from(engine.attach(name).await?);
        let mut first_frame = Vec::new();
        ToCell::Container(Box::new(plan_inside(spec, fifo_channel.is_some()))).encode(0, &mut first_frame);
        // If the container does not accept it, it has ended, and the reader reports how.
        attached.writer.write_all(&first_frame).await.ok();
        engine.start(name).await?;
        Ok(match fifo_channel {
            Some(fifo_channel) => fifo_channel.meet(attached).await,
            None => attached,
        })
    }

    fn fifo_channel(&self) -> Option<FifoChannel> {
        let created = self.fifo_channels.as_ref()?.create();
        created.inspect_err(|error| tracing::debug!(%error, "a FIFO channel can't be made")).ok()
    }

    /// If the engine does not report a lack of memory, checks for it when the container ends.
    fn watched(
        &self,
        name: String,
        reader: Box<dyn AsyncRead + Send + Unpin>,
        profile: &EngineProfile,
        keeper: &ContainerKeeper,
    ) -> Box<dyn AsyncRead + Send + Unpin> {
        let Some(id) = keeper.id().filter(|_| profile.same_kernel && !profile.dialect.tells_out_of_memory)
        else {
            return reader;
        };
        let states = self.lifecycle.states.clone();
        let (told, heard) = (states.clone(), name.clone());
        let notice = Notice::listen(id.clone(), move || told.out_of_memory(&heard));
        Box::new(StreamEnd::new(reader, move || {
            if killed_for_memory(&id) {
                states.out_of_memory(&name);
            }
            drop(notice);
        }))
    }

    /// Drops the FIFO channel if the engine does not see our files.
    async fn create(
        &self,
        name: &str,
        spec: &ContainerSpec,
        profile: &EngineProfile,
        fifo_channel: &mut Option<FifoChannel>,
    ) -> Result<Created> {
        let engine = &self.lifecycle.engine;
        let body = |placement: &Placement, fifo_channel: Option<&FifoChannel>| {
            body(
                spec,
                placement,
                fifo_channel.map(FifoChannel::directory),
                profile,
                self.lifecycle.labels(name),
            )
        };
        let placement = self.supervisor.placement(&self.lifecycle, &spec.image).await?;
        let Placement::Bind { source, .. } = &placement else {
            *fifo_channel = None;
            return engine.create(name, body(&placement, None)).await;
        };
        let created = engine.create(name, body(&placement, fifo_channel.as_ref())).await;
        let ours = [Some(source.as_str()), fifo_channel.as_ref().map(FifoChannel::directory)];
        match created {
            Err(error) if ours.into_iter().flatten().any(|path| is_missing_bind_source(&error, path)) => {
                tracing::info!("the engine does not see this machine's files; PID 1 goes into a volume");
                *fifo_channel = None;
                let placement = self.supervisor.move_to_volume(&self.lifecycle, &spec.image).await?;
                engine.create(name, body(&placement, None)).await
            }
            created => created,
        }
    }
}

/// What PID 1 verifies and adds.
fn plan_inside(spec: &ContainerSpec, fifo_channel: bool) -> ContainerPlan {
    let expect = spec.mounts.iter().filter_map(|mount| match mount {
        Mount::Bind { target, expect: Some(id), .. } => Some(Expected {
            target: target.clone().into_bytes(),
            id: exec_wire::FileId { dev: id.dev, ino: id.ino, born: id.born },
        }),
        _ => None,
    });
    let write = ["/dev", "/proc"].into_iter().chain(spec.writable());
    ContainerPlan {
        landlock: Some(LandlockPlan {
            deny_tcp: false,
            read: vec![b"/".to_vec()],
            write: write.map(|path| path.as_bytes().to_vec()).collect(),
        }),
        fifo_channel,
        expect: expect.collect(),
    }
}
