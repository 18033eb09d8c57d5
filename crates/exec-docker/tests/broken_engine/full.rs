//! An engine whose disk is full.

use std::fs::File;
use std::io::{ErrorKind as IoKind, Write};

use anyhow::{Context, Result, bail, ensure};
use exec_core::{Cmd, Error, ErrorKind, ExecOpts, Executor};

use crate::engine::PrivateEngine;
use crate::support::{ensure_nothing_is_left, executor, workspace};

const ROOM: u64 = 32 << 20;

/// Fills the disk, and frees it on request.
fn fill(engine: &PrivateEngine) -> Result<impl FnOnce() -> Result<()> + use<>> {
    let path = engine.data().join("filler");
    let mut file = File::create(&path)?;
    loop {
        match file.write(&[0; 4096]) {
            Ok(_) => {}
            Err(error) if error.kind() == IoKind::StorageFull => break,
            Err(error) => bail!(error),
        }
    }
    Ok(move || Ok(std::fs::remove_file(path)?))
}

fn ensure_full(error: &Error) -> Result<()> {
    ensure!(error.kind() == ErrorKind::ResourceExhausted, "{:?}: {error}", error.kind());
    ensure!(error.to_string().contains("no space left on device"), "{error}");
    let remedy = error.remedy().context("no remedy")?;
    ensure!(remedy.to_string().contains("free disk space"), "{remedy}");
    Ok(())
}

/// F7
pub(crate) async fn no_room_for_an_image() -> Result<()> {
    let engine = PrivateEngine::start_with_room_for(ROOM).await?;
    let (dir, executor) = (workspace()?, executor(&engine, 0).await?);
    let opts = ExecOpts::in_workspace(dir.path());
    let free = fill(&engine)?;
    ensure_full(&executor.run(&Cmd::new("true"), &opts).await.err().context("it ran")?)?;
    free()?;
    ensure!(executor.run(&Cmd::new("true"), &opts).await?.success(), "with room");
    drop(executor);
    engine.end().await
}

/// F7: a failed attempt leaves nothing behind, and works once the disk has room.
pub(crate) async fn no_room_for_a_container() -> Result<()> {
    let engine = PrivateEngine::start_with_room_for(ROOM).await?;
    let (dir, executor) = (workspace()?, executor(&engine, 0).await?);
    let opts = ExecOpts::in_workspace(dir.path());
    ensure!(executor.run(&Cmd::new("true"), &opts).await?.success(), "with room");
    // Containers removed later would free space.
    ensure_nothing_is_left(&engine).await?;
    let free = fill(&engine)?;
    ensure_full(&executor.run(&Cmd::new("true"), &opts).await.err().context("it ran")?)?;
    free()?;
    ensure!(executor.run(&Cmd::new("true"), &opts).await?.success(), "with room again");
    ensure_nothing_is_left(&engine).await?;
    drop(executor);
    engine.end().await
}
