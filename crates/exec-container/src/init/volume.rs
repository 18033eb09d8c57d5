//! `exec-init` in a volume of the engine, for engines that do not see this host's files.

use bollard::models::ContainerCreateBody;
use exec_control::unique;
use exec_core::{Error, ErrorKind, Result};

use super::{INIT_DIRECTORY, INIT_NAME, INIT_PATH};
use crate::engine::archive::Archive;
use crate::engine::labels;
use crate::engine::{Engine, is_missing_image};
use crate::lifecycle::ContainerLifecycle;
use crate::spec::body::volume_mount;

/// Creates the volume and fills it through a container that never starts. Repeating this changes nothing.
pub(super) async fn fill(
    lifecycle: &ContainerLifecycle,
    volume: &str,
    image: &str,
    program: &[u8],
) -> Result<()> {
    let engine = &lifecycle.engine;
    engine.create_volume(volume, labels::of_ours()).await?;
    let name = unique("agentctl-fill");
    let body = ContainerCreateBody {
        image: Some(image.to_owned()),
        // Never run, but some engines require one.
        entrypoint: Some(vec![INIT_PATH.to_owned()]),
        // The volume is shared; the container is ours and is removed with us.
        labels: Some(lifecycle.labels(&name)),
        host_config: Some(volume_mount(volume)),
        ..ContainerCreateBody::default()
    };
    lifecycle.reaper.watch(&name)?;
    engine.create(&name, body).await.inspect_err(|error| {
        if is_missing_image(error) {
            // The container will not appear, so the reaper need not wait for it.
            lifecycle.reaper.forget(&name);
        }
    })?;
    let filled = fill_through(engine, &name, program).await;
    engine.remove(&name).await?;
    lifecycle.reaper.forget(&name);
    filled
}

async fn fill_through(engine: &Engine, container: &str, program: &[u8]) -> Result<()> {
    if engine.file_size(container, INIT_PATH).await? == Some(program.len() as i64) {
        return Ok(());
    }
    let mut archive = Archive::new();
    let archive =
        archive.file(INIT_NAME, 0o555, program).and_then(|()| archive.finish()).map_err(|error| {
            Error::new(ErrorKind::Io, "load", "exec-init can't be put into an archive").with_source(error)
        })?;
    engine.upload(container, INIT_DIRECTORY, archive).await
}
