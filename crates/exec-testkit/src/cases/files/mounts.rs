//! More of the host, on request.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use exec_core::{ErrorKind, ExecOpts, MountSpec};
use tempfile::TempDir;

use crate::case::{Case, case};
use crate::probe::open_to_all;
use crate::{Ctx, check};

pub(super) const CASES: &[Case] = &[
    case!(a_mount_is_readable, "R22", HidesFiles),
    case!(a_read_only_mount_is_read_only, "R22", ReadOnlySystem, HidesFiles),
    case!(a_writable_mount_is_writable, "R22", HidesFiles),
    case!(a_mount_may_have_another_path, "R22 R23", HidesFiles),
    case!(a_missing_source_is_refused, "R22"),
    case!(the_hosts_own_places_are_refused, "R22"),
    case!(overlapping_mounts_are_refused, "A36"),
    case!(climbing_targets_are_refused, "A36"),
    case!(the_cells_own_places_are_refused, "A36"),
];

/// A directory of the host with one file in it.
fn data() -> Result<TempDir> {
    let dir = tempfile::tempdir()?;
    open_to_all(dir.path())?;
    fs::write(dir.path().join("file"), "data")?;
    Ok(dir)
}

async fn run_in(ctx: &Ctx, mount: MountSpec, args: &[&str]) -> Result<exec_core::ExecResult> {
    ctx.run(&ctx.probe(args), &ctx.opts().with_mount(mount)).await
}

async fn is_refused(ctx: &Ctx, opts: &ExecOpts) -> Result<()> {
    let ran = ctx.executor().run(&ctx.probe(&["exit", "0"]), opts).await;
    let error = check::failed(ran, ErrorKind::InvalidInput)?;
    ensure!(error.remedy().is_some(), "no remedy: {error}");
    Ok(())
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("the path is not UTF-8")
}

/// R22
async fn a_mount_is_readable(ctx: Ctx) -> Result<()> {
    let dir = data()?;
    let file = dir.path().join("file");
    let result = run_in(&ctx, MountSpec::read_only(dir.path()), &["read", text(&file)?]).await?;
    check::printed(&result, "ok 4")
}

/// R22
async fn a_read_only_mount_is_read_only(ctx: Ctx) -> Result<()> {
    let dir = data()?;
    let file = dir.path().join("new");
    let result = run_in(&ctx, MountSpec::read_only(dir.path()), &["write", text(&file)?]).await?;
    check::refused(&result, &["EROFS"])?;
    ensure!(ctx.outside(&["write", text(&file)?])? == "ok", "not outside either");
    Ok(())
}

/// R22
async fn a_writable_mount_is_writable(ctx: Ctx) -> Result<()> {
    let dir = data()?;
    let file = dir.path().join("new");
    let result = run_in(&ctx, MountSpec::read_write(dir.path()), &["write", text(&file)?]).await?;
    check::printed(&result, "ok")?;
    ensure!(file.exists(), "it is not on the host");
    Ok(())
}

/// R22, R23: `/app/data` writable and `/app/config` read-only, wherever they are on the host.
async fn a_mount_may_have_another_path(ctx: Ctx) -> Result<()> {
    let (data, config) = (data()?, data()?);
    let opts = ctx
        .opts()
        .with_mount(MountSpec::read_write(data.path()).at("/app/data"))
        .with_mount(MountSpec::read_only(config.path()).at("/app/config"));
    check::printed(&ctx.run(&ctx.probe(&["write", "/app/data/new"]), &opts).await?, "ok")?;
    check::printed(&ctx.run(&ctx.probe(&["read", "/app/config/file"]), &opts).await?, "ok 4")?;
    check::refused(&ctx.run(&ctx.probe(&["write", "/app/config/new"]), &opts).await?, &["EROFS"])?;
    ensure!(data.path().join("new").exists(), "it is not on the host");
    Ok(())
}

/// R22
async fn a_missing_source_is_refused(ctx: Ctx) -> Result<()> {
    is_refused(&ctx, &ctx.opts().with_mount(MountSpec::read_only("/no/such/place"))).await
}

/// R22: each by its name, and through a link to it.
async fn the_hosts_own_places_are_refused(ctx: Ctx) -> Result<()> {
    for place in ["/", "/etc", "/home", "/proc", "/sys", "/dev"] {
        let elsewhere = MountSpec::read_only(place).at("/mnt/host");
        is_refused(&ctx, &ctx.opts().with_mount(elsewhere)).await.with_context(|| place.to_owned())?;
    }
    let link = ctx.workspace().join("innocent");
    std::os::unix::fs::symlink("/etc", &link)?;
    is_refused(&ctx, &ctx.opts().with_mount(MountSpec::read_only(link).at("/mnt/host"))).await
}

/// A36
async fn overlapping_mounts_are_refused(ctx: Ctx) -> Result<()> {
    let (one, other) = (data()?, data()?);
    let opts = ctx
        .opts()
        .with_mount(MountSpec::read_only(one.path()).at("/mnt/a"))
        .with_mount(MountSpec::read_only(other.path()).at("/mnt/a/b"));
    is_refused(&ctx, &opts).await
}

/// A36
async fn climbing_targets_are_refused(ctx: Ctx) -> Result<()> {
    let dir = data()?;
    is_refused(&ctx, &ctx.opts().with_mount(MountSpec::read_only(dir.path()).at("/mnt/../etc"))).await
}

/// A36
async fn the_cells_own_places_are_refused(ctx: Ctx) -> Result<()> {
    let dir = data()?;
    for place in ["/proc", "/usr", "/dev/x", "/"] {
        let mount = MountSpec::read_only(dir.path()).at(place);
        is_refused(&ctx, &ctx.opts().with_mount(mount)).await.with_context(|| place.to_owned())?;
    }
    Ok(())
}
