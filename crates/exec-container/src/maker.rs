//! Makes cells of containers.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::sync::Arc;

use async_trait::async_trait;
use exec_cell::{CellIo, CellMaker};
use exec_core::{Capabilities, Error, ErrorKind, Isolation, Plan, Result};
use exec_host::HostView;
use exec_wire::{ContainerPlan, Expected, Facts, LandlockPlan, MOUNT_MISMATCH, Resource, Rlimit, ToCell};
use tokio::io::AsyncWriteExt;
use tokio::sync::OnceCell;

use crate::body::body;
use crate::config::ContainerConfig;
use crate::engine::{
    Created, Engine, ImageFacts, Lives, is_engine_gone, is_missing_bind_source, is_missing_image,
};
use crate::image::{Named, ensure_host};
use crate::isolation;
use crate::keeper::{ContainerKeeper, Made};
use crate::labels::{Owner, unique};
use crate::profile::EngineProfile;
use crate::reaper::Reaper;
use crate::spec::{self, Base, ContainerSpec, IMAGE_HOME, Mount};
use crate::supervisor::{Placement, Supervisor};

/// Variables that describe the caller's machine and mean nothing in another image.
const OF_THE_HOST: [&str; 14] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "CARGO_HOME",
    "PYENV_ROOT",
    "NVM_DIR",
    "GOROOT",
    "JAVA_HOME",
    "VOLTA_HOME",
    "ASDF_DIR",
];

/// `PATH` where an image names none.
const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Makes containers on one engine.
#[derive(Debug)]
pub struct ContainerMaker {
    shop: Arc<Shop>,
    profile: EngineProfile,
    capabilities: Capabilities,
    config: ContainerConfig,
    /// What of this host the host image shows; none where the engine runs elsewhere.
    host: Option<HostView>,
    host_image: OnceCell<ImageFacts>,
    images: Named,
}

/// What making one container takes.
#[derive(Debug)]
pub(crate) struct Shop {
    pub(crate) engine: Engine,
    pub(crate) owner: Owner,
    pub(crate) lives: Lives,
    pub(crate) reaper: Reaper,
    pub(crate) supervisor: Supervisor,
}

impl ContainerMaker {
    pub(crate) fn new(
        shop: Shop,
        profile: EngineProfile,
        capabilities: Capabilities,
        config: ContainerConfig,
        host: Option<HostView>,
    ) -> Self {
        let (host_image, images) = (OnceCell::new(), Named::default());
        Self { shop: Arc::new(shop), profile, capabilities, config, host, host_image, images }
    }

    fn engine(&self) -> &Engine {
        &self.shop.engine
    }

    /// The image a run is to have, if it is not the host's own.
    fn image_name<'a>(&'a self, plan: &'a Plan) -> Option<&'a str> {
        plan.image.as_deref().or(self.config.image.as_deref()).filter(|name| *name != HOST_IMAGE)
    }

    async fn host_image(&self) -> Result<(&ImageFacts, &HostView)> {
        let view = self.host.as_ref().ok_or_else(|| self.no_host_image())?;
        let image = self.host_image.get_or_try_init(|| ensure_host(self.engine(), view)).await?;
        Ok((image, view))
    }

    fn no_host_image(&self) -> Error {
        Error::new(ErrorKind::Unsupported, "image", "the engine does not run on this machine's own system")
            .with_backend(self.name())
            .with_remedy("name an image with --image")
    }
}

/// The name of the host image in options.
const HOST_IMAGE: &str = "host";

#[async_trait]
impl CellMaker for ContainerMaker {
    type Spec = ContainerSpec;

    fn name(&self) -> &str {
        self.shop.engine.backend()
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    async fn prepare(&self, plan: &mut Plan) -> Result<()> {
        match self.image_name(plan).map(str::to_owned) {
            None => {
                self.host_image().await?;
                plan.env.entry("HOME".into()).or_insert_with(|| "/tmp".into());
            }
            Some(name) => {
                let (policy, progress) = (self.config.pull, &self.config.progress);
                let image = self.images.resolve(self.engine(), &name, policy, progress).await?;
                plan.env = image_env(plan, &image.env);
            }
        }
        Ok(())
    }

    fn spec(&self, plan: &Plan) -> Result<ContainerSpec> {
        let spec = match self.image_name(plan) {
            None => match (self.host_image.get(), &self.host) {
                (Some(image), Some(view)) => spec::spec(plan, Base::Host { image, view }, &self.profile),
                _ => Err(self.no_host_image()),
            },
            Some(name) => {
                let image = self.images.known(name).unwrap_or_default();
                spec::spec(plan, Base::Image { name, image: &image }, &self.profile)
            }
        };
        spec.map_err(|error| error.with_backend(self.name()))
    }

    async fn make(&self, spec: &ContainerSpec) -> Result<CellIo> {
        let (shop, spec, profile) = (Arc::clone(&self.shop), spec.clone(), self.profile.clone());
        // A task of its own: whoever gives up waiting does not leave half a container behind. What comes of it is
        // dropped then, which ends it.
        match tokio::spawn(async move { shop.make(&spec, &profile).await }).await {
            Ok(made) => made,
            Err(_) => Err(Error::new(ErrorKind::Engine, "make cell", "making the container was interrupted")
                .with_backend(self.name())),
        }
    }

    fn explain(&self, error: Error) -> Error {
        let text = error.to_string();
        match text.split_once(MOUNT_MISMATCH) {
            None => error,
            Some((_, path)) => Error::new(
                ErrorKind::InvalidInput,
                "make cell",
                format!("the engine shows something else at `{path}` than this machine has there"),
            )
            .with_backend(self.name())
            .with_remedy(
                "if it was replaced just now, try again; else the engine does not share this machine's files: run where \
                 it does, or share the directory with it",
            ),
        }
    }

    fn isolation(&self, spec: &ContainerSpec, facts: &Facts) -> Isolation {
        isolation::report(spec, facts, &self.profile)
    }

    fn rlimits(&self, plan: &Plan, _: &Facts) -> Vec<Rlimit> {
        let files = plan.limits.open_files.map(|files| (Resource::OpenFiles, files.into()));
        let size = plan.limits.file_size.map(|size| (Resource::FileSize, size.get()));
        files.into_iter().chain(size).map(|(resource, value)| Rlimit { resource, value }).collect()
    }
}

impl Shop {
    async fn make(&self, spec: &ContainerSpec, profile: &EngineProfile) -> Result<CellIo> {
        let name = unique(&format!("agentctl-{}", std::process::id()));
        self.reaper.watch(&name)?;
        let (lives, reaper, buried) = (self.lives.clone(), self.reaper.clone(), name.clone());
        let buried = move || {
            lives.forget(&buried);
            reaper.forget(&buried);
        };
        let keeper = ContainerKeeper::watch(&self.engine, &name, self.lives.expect(&name), buried);
        match self.raise(&name, spec, profile, &keeper).await {
            Ok((from, to)) => Ok(CellIo { reader: from, writer: to, keeper: Box::new(keeper) }),
            Err(error) => {
                exec_cell::Keeper::kill(&keeper);
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
    ) -> Result<Streams> {
        let created = self.create(name, spec, profile).await.map_err(|error| {
            if is_engine_gone(&error) {
                // It never heard of the container; whoever tries again and again has nothing to clean up after.
                self.reaper.forget(name);
            }
            self.explain_create(spec, error)
        })?;
        for warning in created.warnings {
            tracing::debug!(container = created.id, warning, "the engine warns");
        }
        keeper.is_made(Made { id: created.id, same_kernel: profile.same_kernel });
        let mut attached = self.engine.attach(name).await?;
        let mut first_frame = Vec::new();
        ToCell::Container(Box::new(plan_inside(spec))).encode(0, &mut first_frame);
        // A container that does not take it has ended, and the reading side will say how.
        attached.writer.write_all(&first_frame).await.ok();
        self.engine.start(name).await?;
        Ok((attached.reader, attached.writer))
    }

    async fn create(&self, name: &str, spec: &ContainerSpec, profile: &EngineProfile) -> Result<Created> {
        let body = |placement: &Placement| body(spec, placement, profile, self.owner.labels(name));
        let placement = self.supervisor.placement(&self.engine, &spec.image).await?;
        let created = self.engine.create(name, body(&placement)).await;
        match (created, placement) {
            (Err(error), Placement::Bind { source, .. }) if is_missing_bind_source(&error, &source) => {
                tracing::info!("the engine does not see this machine's files; PID 1 goes into a volume");
                let placement = self.supervisor.move_to_volume(&self.engine, &spec.image).await?;
                self.engine.create(name, body(&placement)).await
            }
            (created, _) => created,
        }
    }

    fn explain_create(&self, spec: &ContainerSpec, error: Error) -> Error {
        if is_missing_image(&error) {
            return Error::new(
                ErrorKind::ImageNotFound,
                "make cell",
                format!("the image {} was removed from the engine", spec.image_name),
            )
            .with_backend(self.engine.backend())
            .with_source(error)
            .with_remedy("try again: it is looked up, and pulled or made anew");
        }
        error
    }
}

type Streams = (Box<dyn tokio::io::AsyncRead + Send + Unpin>, Box<dyn tokio::io::AsyncWrite + Send + Unpin>);

/// What PID 1 checks and adds.
fn plan_inside(spec: &ContainerSpec) -> ContainerPlan {
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
        expect: expect.collect(),
    }
}

/// In an image its own variables hold, then those the options name, and of the caller's those that mean the same
/// anywhere.
fn image_env(plan: &Plan, image: &[String]) -> BTreeMap<OsString, OsString> {
    let fixed = [("PATH", DEFAULT_PATH), ("HOME", IMAGE_HOME)];
    let mut env: BTreeMap<OsString, OsString> =
        fixed.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
    let of_host = |name: &OsStr| OF_THE_HOST.iter().any(|host| name == *host);
    let inherited = plan.env.iter().filter(|(name, _)| !plan.named_env.contains(*name) && !of_host(name));
    env.extend(inherited.map(|(name, value)| (name.clone(), value.clone())));
    let of_image = image.iter().filter_map(|pair| pair.split_once('=')).filter(|(name, _)| *name != "HOME");
    env.extend(of_image.map(|(name, value)| (name.into(), value.into())));
    let named = plan.env.iter().filter(|(name, _)| plan.named_env.contains(*name));
    env.extend(named.map(|(name, value)| (name.clone(), value.clone())));
    env
}

#[cfg(test)]
mod tests {
    use exec_core::{Cmd, ExecOpts};

    use super::*;

    #[test]
    fn an_image_brings_its_own_variables() {
        let opts =
            ExecOpts::in_workspace(std::env::temp_dir()).with_env("MODE", "ci").with_env("GOFLAGS", "-x");
        let callers = [("PATH", "/home/me/bin"), ("HOME", "/home/me"), ("LANG", "C.UTF-8")];
        let callers = callers.map(|(name, value)| (name.into(), value.into()));
        let plan = Plan::resolve(&Cmd::new("x"), &opts, callers).unwrap();
        let image =
            ["PATH=/opt/go/bin:/bin", "GOFLAGS=-mod=mod", "HOME=/root", "nonsense"].map(str::to_owned);
        let env = image_env(&plan, &image);
        let value = |name: &str| env.get(OsStr::new(name)).and_then(|value| value.to_str());
        assert_eq!(value("PATH"), Some("/opt/go/bin:/bin"));
        assert_eq!((value("HOME"), value("LANG")), (Some(IMAGE_HOME), Some("C.UTF-8")));
        assert_eq!((value("MODE"), value("GOFLAGS")), (Some("ci"), Some("-x")));
    }
}
