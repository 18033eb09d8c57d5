//! The engine client: one function per verb. Errors name the verb, the object and a remedy.
//!
//! Only this module knows the client library. Every call has a time limit, so a hanging engine is an error like any
//! other.

pub(crate) mod archive;
pub(crate) mod dialect;
pub(crate) mod endpoint;
mod error;
mod events;
pub(crate) mod greeting;
mod images;
pub(crate) mod labels;
mod networks;
pub(crate) mod patience;
pub(crate) mod profile;
mod summary;
mod volumes;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bollard::container::AttachContainerResults;
use bollard::models::{ContainerCreateBody, SystemInfo};
use bollard::query_parameters::{
    AttachContainerOptionsBuilder, CreateContainerOptionsBuilder, ListContainersOptionsBuilder,
    RemoveContainerOptionsBuilder,
};
use bollard::{ClientVersion, Docker};
use exec_core::{Error, Result};

pub(crate) use error::{
    is_conflict, is_engine_gone, is_in_use, is_missing_bind_source, is_missing_image, is_not_found,
};
pub(crate) use events::{ContainerState, ContainerStates};
pub(crate) use images::{ImageFacts, label_change};

use summary::Summary;

use crate::engine::profile::KEEP_ID;
use crate::{Endpoint, Greeting, Patience};

/// A connection to one engine, cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Engine {
    docker: Docker,
    /// The executor's name, for errors.
    backend: Arc<str>,
    pub(crate) patience: Patience,
    /// Held while creating a container that must not be created concurrently with another.
    creating: Arc<tokio::sync::Mutex<()>>,
}

/// A container, volume or network as a list shows it.
#[derive(Debug, Clone)]
pub(crate) struct Listed {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) labels: HashMap<String, String>,
}

/// An object that containers may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Used<'a> {
    /// By its name.
    Volume(&'a str),
    /// By its name.
    Network(&'a str),
    /// By its id.
    Image(&'a str),
}

/// A container that was created.
#[derive(Debug, Clone)]
pub(crate) struct Created {
    pub(crate) id: String,
    /// The engine's warnings about it.
    pub(crate) warnings: Vec<String>,
}

impl Engine {
    /// A client for the engine that answered with this greeting; opens no connection yet.
    pub(crate) fn connect(
        endpoint: &Endpoint,
        greeting: &Greeting,
        backend: &str,
        patience: Patience,
    ) -> Result<Self> {
        let version = ClientVersion { major_version: greeting.api.0, minor_version: greeting.api.1 };
        // The client counts whole seconds; the exact limit of each call is enforced here.
        let seconds = patience.make.as_secs() + 1;
        let docker = match endpoint {
            #[cfg(unix)]
            Endpoint::Unix(path) => Docker::connect_with_unix(&path.to_string_lossy(), seconds, &version),
            #[cfg(windows)]
            Endpoint::NamedPipe(name) => Docker::connect_with_named_pipe(name, seconds, &version),
            Endpoint::Tcp { host, port } => {
                Docker::connect_with_http(&format!("http://{host}:{port}"), seconds, &version)
            }
            other => {
                return Err(Error::new(
                    exec_core::ErrorKind::Unavailable,
                    "connect",
                    format!("this system can't connect to {other}"),
                )
                .with_backend(backend));
            }
        };
        let docker =
            docker.map_err(|why| error::explain(backend, "connect to", &endpoint.to_string(), why))?;
        Ok(Self { docker, backend: backend.into(), patience, creating: Arc::default() })
    }

    /// The executor's name.
    pub(crate) fn backend(&self) -> &str {
        &self.backend
    }

    /// The engine's description of itself and its host.
    pub(crate) async fn info(&self) -> Result<SystemInfo> {
        self.bounded(self.patience.ask, "say", "what it is", self.docker.info()).await
    }

    pub(crate) async fn create(&self, name: &str, body: ContainerCreateBody) -> Result<Created> {
        let options = CreateContainerOptionsBuilder::default().name(name).build();
        // For this Podman looks up the caller's id range with a library that crashes when two threads call it at
        // once.
        let keeps_ids =
            body.host_config.as_ref().is_some_and(|host| host.userns_mode.as_deref() == Some(KEEP_ID));
        let _turn = if keeps_ids { Some(self.creating.lock().await) } else { None };
        let created = self.docker.create_container(Some(options), body);
        let created = self.bounded(self.patience.make, "create", name, created).await?;
        Ok(Created { id: created.id, warnings: created.warnings })
    }

    /// Attaches to a container's standard streams. Must happen before the start, so that no output is missed.
    pub(crate) async fn attach(&self, name: &str) -> Result<AttachContainerResults> {
        let options = AttachContainerOptionsBuilder::default()
            .stdin(true)
            .stdout(true)
            .stderr(true)
            .stream(true)
            .build();
        let attached = self.docker.attach_container(name, Some(options));
        self.bounded(self.patience.ask, "attach to", name, attached).await
    }

    pub(crate) async fn start(&self, name: &str) -> Result<()> {
        self.bounded(self.patience.make, "start", name, self.docker.start_container(name, None)).await
    }

    /// Kills and removes a container with its anonymous volumes. A container that does not exist is not an error.
    pub(crate) async fn remove(&self, name: &str) -> Result<()> {
        let options = RemoveContainerOptionsBuilder::default().force(true).v(true).build();
        let removed = self.docker.remove_container(name, Some(options));
        match self.bounded(self.patience.ask, "remove", name, removed).await {
            Err(error) if is_not_found(&error) || is_conflict(&error) => Ok(()),
            other => other,
        }
    }

    /// Lists containers with this label, in any state.
    pub(crate) async fn list(&self, label: &str) -> Result<Vec<Listed>> {
        self.list_by("label", label).await
    }

    /// Lists containers that use this object, in any state: a stopped one may be started again.
    pub(crate) async fn users(&self, used: Used<'_>) -> Result<Vec<Listed>> {
        match used {
            Used::Volume(name) => self.list_by("volume", name).await,
            // By name: given an id, engines do not find containers that were never started.
            Used::Network(name) => self.list_by("network", name).await,
            // For this filter Podman does not accept an id with the hash's name.
            Used::Image(id) => self.list_by("ancestor", id.trim_start_matches("sha256:")).await,
        }
    }

    async fn list_by(&self, key: &str, value: &str) -> Result<Vec<Listed>> {
        let filters = HashMap::from([(key.to_owned(), vec![value.to_owned()])]);
        let options = ListContainersOptionsBuilder::default().all(true).filters(&filters).build();
        let list = self.docker.list_containers(Some(options));
        let found = async {
            match list.await {
                Ok(found) => Ok(found.into_iter().map(Summary::from).collect()),
                Err(error) => Summary::read(error),
            }
        };
        let found: Vec<Summary> = self.bounded(self.patience.ask, "list", "containers", found).await?;
        Ok(found.into_iter().filter_map(Summary::listed).collect())
    }

    pub(crate) async fn unpause(&self, name: &str) -> Result<()> {
        self.bounded(self.patience.ask, "unpause", name, self.docker.unpause_container(name)).await
    }

    /// Whether a container of this name exists.
    pub(crate) async fn exists(&self, name: &str) -> Result<bool> {
        let found = self.docker.inspect_container(name, None);
        match self.bounded(self.patience.ask, "inspect", name, found).await {
            Ok(_) => Ok(true),
            Err(error) if is_not_found(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn bounded<T>(
        &self,
        limit: Duration,
        verb: &'static str,
        object: &str,
        call: impl Future<Output = Result<T, bollard::errors::Error>>,
    ) -> Result<T> {
        match tokio::time::timeout(limit, call).await {
            Ok(answer) => answer.map_err(|why| error::explain(&self.backend, verb, object, why)),
            Err(_) => {
                Err(error::no_answer(&self.backend, verb, object)
                    .with_context("waited", format!("{limit:?}")))
            }
        }
    }
}
