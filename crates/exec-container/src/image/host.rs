//! The host image: only the mount points of the host's own directories. It needs no registry.

use std::sync::{Mutex, MutexGuard, PoisonError};

use exec_core::{Error, ErrorKind, Remedy, Result};
use exec_host::{HostView, SystemEntry};
use tokio::time::timeout;

use super::not_looked_up;
use crate::engine::archive::Archive;
use crate::engine::labels;
use crate::engine::{Engine, ImageFacts, label_change};
use crate::host::fingerprint::fingerprint;
use crate::host::process_lock::{self, ProcessLock};

pub(super) const REPOSITORY: &str = "agentctl/host";

/// The image's own directories. Mounts below `/var/tmp` keep their path only if `/var/tmp` is not a link to `/tmp`.
const DIRECTORIES: [(&str, u32); 7] = [
    ("dev", 0o755),
    ("proc", 0o755),
    ("run", 0o1777),
    ("sys", 0o755),
    ("tmp", 0o1777),
    ("var", 0o755),
    ("var/tmp", 0o1777),
];

/// The old name of `/run`, which is the cell's own.
const VAR_RUN: (&str, &str) = ("var/run", "/run");

/// The host image of one engine, which may be removed at any time.
#[derive(Debug, Default)]
pub(crate) struct HostImage {
    known: Mutex<Option<ImageFacts>>,
    /// One caller in this process makes it; the others wait and find it.
    making: tokio::sync::Mutex<()>,
}

impl HostImage {
    /// Assumes that it exists, as it does after the first run on an engine. A caller that finds it missing must
    /// [`provide`](Self::provide) it.
    pub(crate) fn assume(&self, engine: &Engine, view: &HostView) -> Result<()> {
        let mut known = self.lock();
        if known.is_none() {
            let (_, tag) = draw(engine, view)?;
            *known = Some(ImageFacts { id: name(&tag), ..ImageFacts::default() });
        }
        Ok(())
    }

    /// Makes it if missing, under the name it was assumed to have.
    pub(crate) async fn provide(&self, engine: &Engine, view: &HostView) -> Result<()> {
        let _lock = self.making.lock().await;
        ensure(engine, view).await
    }

    /// The known facts about it.
    pub(crate) fn known(&self) -> Result<ImageFacts> {
        self.lock().clone().ok_or_else(|| not_looked_up("host"))
    }

    fn lock(&self) -> MutexGuard<'_, Option<ImageFacts>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes the image for this host, if the engine does not have it.
async fn ensure(engine: &Engine, view: &HostView) -> Result<()> {
    let (archive, tag) = draw(engine, view)?;
    let name = name(&tag);
    if engine.image(&name).await?.is_some() {
        return Ok(());
    }
    let _lock = lock(engine, &tag).await;
    if engine.image(&name).await?.is_some() {
        return Ok(());
    }
    tracing::info!(image = name, "making the host image");
    engine.import(archive, REPOSITORY, &tag, &label_change(&labels::of_ours())).await?;
    engine.image(&name).await?.map(drop).ok_or_else(|| {
        Error::new(
            ErrorKind::Engine,
            "make image",
            format!("the engine imported {name} and does not have it"),
        )
        .with_backend(engine.backend())
        .with_remedy(Remedy::engine("see the engine's log, and whether something removes unused images"))
    })
}

/// Takes the lock: of several images made at once, all but the last would stay on the engine without a name. This is
/// worth neither a failure nor waiting for a hanging process.
async fn lock(engine: &Engine, tag: &str) -> Option<ProcessLock> {
    let name = format!("host-{}-{tag}", engine.backend());
    match timeout(engine.patience.make, process_lock::take(&name)).await {
        Ok(Ok(lock)) => Some(lock),
        Ok(Err(error)) => {
            tracing::debug!(%error, "the host image is made without taking turns");
            None
        }
        Err(_) => None,
    }
}

fn name(tag: &str) -> String {
    format!("{REPOSITORY}:{tag}")
}

/// Its contents, and the tag derived from them.
fn draw(engine: &Engine, view: &HostView) -> Result<(Vec<u8>, String)> {
    let archive = archive(view).map_err(|error| {
        Error::new(ErrorKind::Io, "make image", "the host image can't be put together")
            .with_backend(engine.backend())
            .with_source(error)
    })?;
    let tag = format!("{:016x}", fingerprint(&archive));
    Ok((archive, tag))
}

fn archive(view: &HostView) -> std::io::Result<Vec<u8>> {
    let mut archive = Archive::new();
    for (name, mode) in DIRECTORIES {
        archive.directory(name, mode)?;
    }
    archive.link(VAR_RUN.0, VAR_RUN.1)?;
    for entry in &view.system {
        let path = entry.path().to_string_lossy();
        let name = path.trim_start_matches('/');
        match entry {
            // A mount point; a link's is for the directory it leads to.
            SystemEntry::Directory(_) | SystemEntry::Link { directory: Some(_), .. } => {
                archive.directory(name, 0o755)?;
            }
            SystemEntry::Link { to, .. } => archive.link(name, &to.to_string_lossy())?,
        }
    }
    archive.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R70, R72
    #[test]
    fn the_same_host_gives_the_same_image() {
        let view = HostView {
            system: vec![
                SystemEntry::Directory("/usr".into()),
                SystemEntry::Link {
                    path: "/bin".into(),
                    to: "usr/bin".into(),
                    directory: Some("/usr/bin".into()),
                },
            ],
            secrets: Vec::new(),
            toolchains: Vec::new(),
            credentials: Vec::new(),
            home: None,
        };
        let bytes = archive(&view).unwrap();
        assert_eq!(bytes, archive(&view).unwrap());
        let mut archive = tar::Archive::new(bytes.as_slice());
        let names: Vec<String> = archive
            .entries()
            .unwrap()
            .map(|entry| entry.unwrap().path().unwrap().display().to_string())
            .collect();
        for name in ["usr", "bin", "proc", "tmp", "var/tmp"] {
            assert!(names.iter().any(|found| found == name), "{name} in {names:?}");
        }
    }
}
