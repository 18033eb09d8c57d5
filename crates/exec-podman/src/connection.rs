//! Podman's connections: named services, in a file that the `podman` CLI maintains.

use std::collections::HashMap;
use std::path::PathBuf;

use exec_core::{Error, ErrorKind, Remedy, Result};
use serde::Deserialize;

use crate::{HostEnvironment, NAME};

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase")]
struct File {
    #[serde(default)]
    connection: Connections,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase")]
struct Connections {
    #[serde(default)]
    connections: HashMap<String, Destination>,
}

#[derive(Deserialize)]
struct Destination {
    #[serde(rename = "URI")]
    uri: String,
}

/// The address of the connection with this name.
pub(crate) fn address(around: &dyn HostEnvironment, name: &str) -> Result<String> {
    let path = file(around);
    let text = path.as_ref().and_then(|path| around.read(path).ok());
    let file: Option<File> = text.and_then(|text| serde_json::from_str(&text).ok());
    let found = file.and_then(|mut file| file.connection.connections.remove(name));
    found.map(|destination| destination.uri).ok_or_else(|| {
        Error::new(ErrorKind::Unavailable, "find engine", format!("there is no Podman connection `{name}`"))
            .with_backend(NAME)
            .with_context("from", "CONTAINER_CONNECTION")
            .with_remedy(
                Remedy::engine("set CONTAINER_CONNECTION to one that `podman system connection list` shows")
                    .or(Remedy::engine("say with CONTAINER_HOST where the service is")),
            )
    })
}

fn file(around: &dyn HostEnvironment) -> Option<PathBuf> {
    let named = around.variable("PODMAN_CONNECTIONS_CONF").filter(|path| !path.is_empty());
    let usual = || Some(around.user_dirs().config_home?.join("containers/podman-connections.json"));
    named.map(PathBuf::from).or_else(usual)
}
