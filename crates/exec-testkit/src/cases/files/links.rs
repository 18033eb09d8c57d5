//! Links that a command plants, and that are not followed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, ensure};
use exec_core::{ErrorKind, Exception, MountSpec, WorkspaceMode};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::case::{Case, Need, case};
use crate::probe::open_to_all;
use crate::{Ctx, check};

pub(super) const CASES: &[Case] = &[
    case!(a_planted_cwd_is_not_followed, "A3"),
    case!(a_planted_writable_path_is_not_followed, "A3"),
    case!(a_planted_workspace_is_not_followed, "A3 R22"),
    case!(a_link_leads_nowhere_inside, "A3", HidesFiles),
    case!(a_swapped_mount_source_is_refused, "A4", HidesFiles; Need::No(Exception::MountsByName)),
];

/// Plants the link from inside, as an agent would.
async fn plant(ctx: &Ctx, name: &str, to: &str) -> Result<()> {
    check::exited(&ctx.sh(&format!("ln -s {to} {name}")).await?, 0)
}

/// A3
async fn a_planted_cwd_is_not_followed(ctx: Ctx) -> Result<()> {
    plant(&ctx, "out", "/etc").await?;
    let ran = ctx.executor().run(&ctx.probe(&["exit", "0"]), &ctx.opts().with_cwd("out")).await;
    check::failed(ran, ErrorKind::InvalidInput).map(drop)
}

/// A3
async fn a_planted_writable_path_is_not_followed(ctx: Ctx) -> Result<()> {
    plant(&ctx, "out", "/etc").await?;
    let opts = ctx.opts().with_workspace_mode(WorkspaceMode::ReadOnly { writable: vec!["out".into()] });
    let ran = ctx.executor().run(&ctx.probe(&["exit", "0"]), &opts).await;
    check::failed(ran, ErrorKind::InvalidInput).map(drop)
}

/// A3, R22: a workspace that a command replaced by a link to one of the host's own places.
async fn a_planted_workspace_is_not_followed(ctx: Ctx) -> Result<()> {
    plant(&ctx, "project", "/etc").await?;
    let opts = exec_core::ExecOpts::in_workspace(ctx.workspace().join("project"));
    let ran = ctx.executor().run(&ctx.probe(&["exit", "0"]), &opts).await;
    check::failed(ran, ErrorKind::InvalidInput).map(drop)
}

/// A3: inside, a link resolves inside.
async fn a_link_leads_nowhere_inside(ctx: Ctx) -> Result<()> {
    let secret = tempfile::NamedTempFile::new()?;
    fs::write(secret.path(), "x")?;
    plant(&ctx, "out", &secret.path().to_string_lossy()).await?;
    check::refused_inside_only(&ctx, &["read", "out"], &["ENOENT"]).await
}

/// A4: a source that turns into a link to the root between check and use never shows the root.
async fn a_swapped_mount_source_is_refused(ctx: Ctx) -> Result<()> {
    let place = tempfile::tempdir()?;
    open_to_all(place.path())?;
    let (source, link) = (place.path().join("source"), place.path().join("link"));
    fs::create_dir(&source)?;
    symlink("/", &link)?;
    let swapper = Swapper::start(&source, &link);
    let opts = ctx.opts().with_mount(MountSpec::read_only(&source).at("/mnt/source"));
    let cmd = ctx.probe(&["read", "/mnt/source/etc/passwd"]);
    for _ in 0..40 {
        // Both a refusal and the directory without such a file are correct.
        if let Ok(result) = ctx.executor().run(&cmd, &opts).await {
            check::refused(&result, &["ENOENT"])?;
        }
    }
    ensure!(swapper.stop().await? > 0, "nothing was swapped");
    Ok(())
}

/// Swaps two names for as long as it lives.
struct Swapper {
    stop: Arc<AtomicBool>,
    task: tokio::task::JoinHandle<rustix::io::Result<u64>>,
}

impl Swapper {
    fn start(one: &Path, other: &Path) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, one, other) = (Arc::clone(&stop), one.to_owned(), other.to_owned());
        let task = tokio::task::spawn_blocking(move || {
            let mut swaps = 0;
            while !stopped.load(Ordering::Relaxed) {
                renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE)?;
                swaps += 1;
            }
            Ok(swaps)
        });
        Self { stop, task }
    }

    async fn stop(mut self) -> Result<u64> {
        self.stop.store(true, Ordering::Relaxed);
        Ok((&mut self.task).await??)
    }
}

impl Drop for Swapper {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}
