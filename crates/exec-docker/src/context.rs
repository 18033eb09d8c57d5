//! Docker contexts: named engines, in files that the `docker` CLI maintains.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::HostEnvironment;

/// A selected context, as its file describes it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Context {
    pub(crate) name: String,
    /// The engine's address.
    pub(crate) host: String,
    /// How to connect to it.
    pub(crate) transport: Transport,
}

/// How to connect to an engine at a TCP port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    Plain,
    Tls,
}

/// Why a selected context can't be used.
#[derive(Debug)]
pub(crate) enum ContextError {
    /// The configuration exists but can't be read, so the intended engine is unknown.
    Unreadable { path: PathBuf, source: Box<dyn std::error::Error + Send + Sync> },
    /// No context has this name.
    Missing { name: String },
    /// It is not for a Docker engine.
    NoEngine { name: String },
}

impl fmt::Display for ContextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { path, .. } => {
                write!(f, "Docker's configuration {} can't be read", path.display())
            }
            Self::Missing { name } => write!(f, "there is no Docker context `{name}`"),
            Self::NoEngine { name } => write!(f, "the Docker context `{name}` names no engine"),
        }
    }
}

/// The context name that stands for Docker's defaults.
const DEFAULT: &str = "default";

#[derive(Deserialize)]
struct ConfigFile {
    #[serde(rename = "currentContext", default)]
    current_context: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct MetaFile {
    name: String,
    #[serde(default)]
    endpoints: Endpoints,
}

#[derive(Deserialize, Default)]
struct Endpoints {
    docker: Option<DockerEndpoint>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct DockerEndpoint {
    #[serde(default)]
    host: String,
    #[serde(rename = "SkipTLSVerify", default)]
    skip_tls_verify: bool,
}

/// The context selected by variable or configuration; `None` for Docker's defaults.
pub(crate) fn chosen(
    around: &dyn HostEnvironment,
    home: Option<&Path>,
) -> Result<Option<Context>, ContextError> {
    let directory = match around.variable("DOCKER_CONFIG").filter(|value| !value.is_empty()) {
        Some(directory) => Some(PathBuf::from(directory)),
        None => home.map(|home| home.join(".docker")),
    };
    let variable = around.variable("DOCKER_CONTEXT").map(|name| name.to_string_lossy().into_owned());
    let name = match (variable.filter(|name| !name.is_empty()), &directory) {
        (Some(name), _) => name,
        (None, Some(directory)) => current(around, &directory.join("config.json"))?,
        (None, None) => return Ok(None),
    };
    match directory {
        _ if name.is_empty() || name == DEFAULT => Ok(None),
        Some(directory) => find(around, &directory.join("contexts"), name).map(Some),
        None => Err(ContextError::Missing { name }),
    }
}

/// The context named in the configuration file; empty if it names none.
fn current(around: &dyn HostEnvironment, path: &Path) -> Result<String, ContextError> {
    let text = match around.read(path) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(String::new());
        }
        other => other.map_err(|error| unreadable(path, error))?,
    };
    let file: ConfigFile = serde_json::from_str(&text).map_err(|error| unreadable(path, error))?;
    Ok(file.current_context)
}

fn unreadable(path: &Path, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> ContextError {
    ContextError::Unreadable { path: path.to_owned(), source: source.into() }
}

/// Searches all contexts: a context's directory is named by a hash of its name, but the file has the name too.
fn find(around: &dyn HostEnvironment, contexts: &Path, name: String) -> Result<Context, ContextError> {
    let directories = around.list(&contexts.join("meta")).unwrap_or_default();
    let described = |directory: PathBuf| {
        let text = around.read(&directory.join("meta.json")).ok()?;
        let file: MetaFile = serde_json::from_str(&text).ok()?;
        (file.name == name).then_some((directory, file))
    };
    let Some((directory, file)) = directories.into_iter().find_map(described) else {
        return Err(ContextError::Missing { name });
    };
    match file.endpoints.docker {
        Some(docker) if !docker.host.is_empty() => {
            let certificates = directory.file_name().map(|id| contexts.join("tls").join(id).join("docker"));
            let has_certificates = certificates.is_some_and(|path| around.exists(&path));
            // A skipped certificate check still implies TLS.
            let transport =
                if docker.skip_tls_verify || has_certificates { Transport::Tls } else { Transport::Plain };
            Ok(Context { name, host: docker.host, transport })
        }
        _ => Err(ContextError::NoEngine { name }),
    }
}
