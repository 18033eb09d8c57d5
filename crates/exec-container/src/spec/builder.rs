//! Turns a plan into the specification of its container, and looks up its image on the way.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use exec_core::{BUILD_IMAGE, Change, Error, ErrorKind, HOST_IMAGE, Plan, Remedy, Result};
use exec_host::HostView;

use crate::config::ContainerConfig;
use crate::engine::endpoint::Endpoint;
use crate::engine::profile::EngineProfile;
use crate::engine::{Engine, is_missing_image};
use crate::image::{Builder, HostImage, Named, PullPolicy, dockerfile};
use crate::spec::{self, Base, ContainerSpec, IMAGE_HOME};

/// Variables that describe the caller's machine and have no meaning in another image.
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

/// `PATH` for images that set none.
const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Drafts containers with the images of one engine.
#[derive(Debug)]
pub(crate) struct SpecBuilder {
    engine: Engine,
    endpoint: Endpoint,
    config: ContainerConfig,
    pub(crate) profile: EngineProfile,
    /// The parts of this host that the host image shows; `None` if the engine runs elsewhere.
    host: Option<HostView>,
    host_image: HostImage,
    images: Named,
}

impl SpecBuilder {
    pub(crate) fn new(
        engine: Engine,
        endpoint: Endpoint,
        config: ContainerConfig,
        profile: EngineProfile,
    ) -> Self {
        let look = || HostView::look(&|name| std::env::var_os(name)).with_secrets();
        let host = profile.same_kernel.then(look);
        let (host_image, images) = (HostImage::default(), Named::default());
        Self { engine, endpoint, config, profile, host, host_image, images }
    }

    /// Whether a container could not be created because the engine lacks the host image, which is assumed to exist
    /// until then.
    pub(crate) fn lacks_host_image(&self, image: &str, failure: &Error) -> bool {
        is_missing_image(failure) && self.host_image.known().is_ok_and(|host| host.id == image)
    }

    /// Builds the host image.
    pub(crate) async fn provide_host_image(&self) -> Result<()> {
        self.host_image.provide(&self.engine, self.host_view()?).await
    }

    /// Resolves the image and gives the plan the variables of that image.
    pub(crate) async fn adjust(&self, plan: &mut Plan) -> Result<()> {
        match self.image_name(plan).map(str::to_owned) {
            None => {
                self.host_image.assume(&self.engine, self.host_view()?)?;
                plan.env.entry("HOME".into()).or_insert_with(|| "/tmp".into());
            }
            // The files an image is built from are protected only if the run itself asks for the build.
            Some(name) if name == BUILD_IMAGE && plan.image.is_none() => {
                return Err(Error::new(
                    ErrorKind::InvalidInput,
                    "image",
                    "an image is built only for a run that asks for it",
                )
                .with_remedy("name `build` as the image of the run, not of the executor"));
            }
            Some(name) if name == BUILD_IMAGE => {
                let built = self.build(&plan.workspace).await?;
                plan.image = Some(built.clone());
                self.named(plan, &built, PullPolicy::Never).await?;
            }
            Some(name) => {
                let found = self.named(plan, &name, self.config.pull).await;
                found.map_err(|error| suggest_build(error, &plan.workspace))?;
            }
        }
        Ok(())
    }

    async fn named(&self, plan: &mut Plan, name: &str, policy: PullPolicy) -> Result<()> {
        let names = self.profile.dialect.image_names(name);
        let image = self.images.resolve(&self.engine, name, &names, policy, &self.config.progress).await?;
        plan.env = image_env(plan, &image.env);
        Ok(())
    }

    /// Builds the image of the workspace's own Dockerfile. Only on request: the engine executes the file with a
    /// network, and a command may have written it.
    async fn build(&self, workspace: &Path) -> Result<String> {
        let (engine, endpoint, progress) = (&self.engine, &self.endpoint, &self.config.progress);
        Builder { engine, endpoint, product: self.profile.product, progress }.image(workspace).await
    }

    /// The container of a plan that was adjusted.
    pub(crate) fn spec(&self, plan: &Plan) -> Result<ContainerSpec> {
        let spec = match self.image_name(plan) {
            None => self.host_view().and_then(|view| {
                let image = self.host_image.known()?;
                spec::spec(plan, Base::Host { image: &image, view }, &self.profile)
            }),
            Some(name) => self
                .images
                .known(name)
                .and_then(|image| spec::spec(plan, Base::Image { name, image: &image }, &self.profile)),
        };
        spec.map_err(|error| error.with_backend(self.engine.backend()))
    }

    /// The image of a run, unless it is the host's own.
    fn image_name<'a>(&'a self, plan: &'a Plan) -> Option<&'a str> {
        plan.image.as_deref().or(self.config.image.as_deref()).filter(|name| *name != HOST_IMAGE)
    }

    fn host_view(&self) -> Result<&HostView> {
        self.host.as_ref().ok_or_else(|| self.no_host_image())
    }

    fn no_host_image(&self) -> Error {
        Error::new(ErrorKind::Unsupported, "image", "the engine does not run on this machine's own system")
            .with_backend(self.engine.backend())
            .with_remedy(Change::give("image").with_purpose("to name one"))
    }
}

/// Suggests a build if the workspace has a Dockerfile.
fn suggest_build(error: Error, workspace: &Path) -> Error {
    match dockerfile(workspace) {
        Some(path) if error.kind() == ErrorKind::ImageNotFound => {
            let build =
                Change::set("image", BUILD_IMAGE).with_purpose(format!("to build {}", path.display()));
            let remedy = error.remedy().cloned();
            error.with_remedy(remedy.into_iter().fold(build.into(), Remedy::or))
        }
        _ => error,
    }
}

/// The environment in an image: the image's own variables, then those named in the options, and those of the
/// caller's that are valid anywhere.
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
    use exec_core::{Cmd, ExecOpts, OwnPlaces};

    use super::*;

    #[test]
    fn an_image_brings_its_own_variables() {
        let opts =
            ExecOpts::in_workspace(std::env::temp_dir()).with_env("MODE", "ci").with_env("GOFLAGS", "-x");
        let callers = [("PATH", "/home/me/bin"), ("HOME", "/home/me"), ("LANG", "C.UTF-8")];
        let callers = callers.map(|(name, value)| (name.into(), value.into()));
        let plan = Plan::resolve(&Cmd::new("x"), &opts, callers, &OwnPlaces::default()).unwrap();
        let image =
            ["PATH=/opt/go/bin:/bin", "GOFLAGS=-mod=mod", "HOME=/root", "nonsense"].map(str::to_owned);
        let env = image_env(&plan, &image);
        let value = |name: &str| env.get(OsStr::new(name)).and_then(|value| value.to_str());
        assert_eq!(value("PATH"), Some("/opt/go/bin:/bin"));
        assert_eq!((value("HOME"), value("LANG")), (Some(IMAGE_HOME), Some("C.UTF-8")));
        assert_eq!((value("MODE"), value("GOFLAGS")), (Some("ci"), Some("-x")));
    }
}
