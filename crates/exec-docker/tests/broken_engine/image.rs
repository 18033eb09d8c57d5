//! An engine whose images are removed by an administrator.

use std::collections::HashMap;

use anyhow::{Result, ensure};
use bollard::query_parameters::{ListImagesOptions, ListImagesOptionsBuilder, RemoveImageOptions};
use exec_core::{Cmd, ExecOpts, Executor};
use exec_docker::InitPlacement;

use crate::engine::PrivateEngine;
use crate::support::{ensure_nothing_is_left, executor_with, workspace};

/// F6, R70: the run that finds the host image missing makes it again.
pub(crate) async fn the_host_image_is_made_again() -> Result<()> {
    let engine = PrivateEngine::start().await?;
    let dir = workspace()?;
    let opts = ExecOpts::in_workspace(dir.path());
    let executor = executor_with(&engine, 0, InitPlacement::Auto).await?;
    ensure!(executor.run(&Cmd::new("true"), &opts).await?.success(), "with the image");
    ensure_nothing_is_left(&engine).await?;
    remove_host_images(&engine).await?;
    ensure!(executor.run(&Cmd::new("true"), &opts).await?.success(), "made again");
    ensure_nothing_is_left(&engine).await?;
    engine.end().await
}

/// R70: many callers at once, on an engine without images.
pub(crate) async fn the_host_image_is_made_once() -> Result<()> {
    let engine = PrivateEngine::start().await?;
    let dir = workspace()?;
    let opts = ExecOpts::in_workspace(dir.path());
    let first_run = || async {
        // Each has its own executor, as separate processes would.
        let executor = executor_with(&engine, 0, InitPlacement::Auto).await?;
        anyhow::Ok(executor.run(&Cmd::new("true"), &opts).await?.success())
    };
    let successes = tokio::try_join!(first_run(), first_run(), first_run(), first_run())?;
    ensure!(successes == (true, true, true, true), "{successes:?}");
    let images = engine.client()?.list_images(None::<ListImagesOptions>).await?;
    ensure!(images.len() == 1, "one and no others: {images:?}");
    ensure_nothing_is_left(&engine).await?;
    engine.end().await
}

async fn remove_host_images(engine: &PrivateEngine) -> Result<()> {
    let client = engine.client()?;
    let filters = HashMap::from([("reference".to_owned(), vec!["agentctl/host".to_owned()])]);
    let options = ListImagesOptionsBuilder::default().filters(&filters).build();
    let images = client.list_images(Some(options)).await?;
    ensure!(!images.is_empty(), "the control: there should be one");
    for image in images {
        client.remove_image(&image.id, None::<RemoveImageOptions>, None).await?;
    }
    Ok(())
}
