//! The workspace: writable, read-only, or read-only with exceptions.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::PathBuf;

use anyhow::{Result, bail, ensure};
use exec_core::{Cmd, ExecOpts, IsolationLevel, User, WorkspaceMode};

use crate::case::{Case, Skip, case};
use crate::outside::is_root;
use crate::{Ctx, check};

pub(super) const CASES: &[Case] = &[
    case!(it_is_writable, "R21"),
    case!(it_keeps_its_own_path, "R21"),
    case!(it_keeps_its_own_path_below_var_tmp, "R21"),
    case!(read_only_is_read_only, "R21", ReadOnlySystem),
    case!(exceptions_are_writable, "R21", ReadOnlySystem),
    case!(an_exception_may_be_a_file, "R21", ReadOnlySystem),
    case!(new_files_belong_to_the_caller, "R24"),
    case!(new_files_belong_to_the_owner, "R24"),
    case!(a_user_can_be_named, "R24"),
];

const OTHER_USER: u32 = 12_345;

fn read_only(ctx: &Ctx, writable: &[&str]) -> ExecOpts {
    let writable = writable.iter().map(PathBuf::from).collect();
    ctx.opts().with_workspace_mode(WorkspaceMode::ReadOnly { writable })
}

fn refusals(ctx: &Ctx) -> &'static [&'static str] {
    if ctx.executor().capabilities().level >= IsolationLevel::Namespaces {
        &["EROFS"]
    } else {
        &["EACCES", "EROFS"]
    }
}

/// R21: the command's writes reach the host, and the other way round.
async fn it_is_writable(ctx: Ctx) -> Result<()> {
    ctx.file("from-outside", "outside")?;
    check::printed(&ctx.sh("cat from-outside; echo inside > from-inside").await?, "outside")?;
    ensure!(fs::read_to_string(ctx.workspace().join("from-inside"))? == "inside\n", "other contents");
    Ok(())
}

/// R21: absolute paths in messages stay valid.
async fn it_keeps_its_own_path(ctx: Ctx) -> Result<()> {
    let path = ctx.workspace().canonicalize()?;
    check::printed(&ctx.sh("pwd -P").await?, &path.to_string_lossy())
}

/// R21: even where temporary files have two names.
async fn it_keeps_its_own_path_below_var_tmp(ctx: Ctx) -> Result<()> {
    let workspace = tempfile::tempdir_in("/var/tmp")?;
    let path = workspace.path().canonicalize()?;
    let mut opts = ctx.opts();
    opts.workspace = ExecOpts::in_workspace(&path).workspace;
    check::printed(&ctx.run(&Cmd::shell("pwd -P"), &opts).await?, &path.to_string_lossy())
}

/// R21
async fn read_only_is_read_only(ctx: Ctx) -> Result<()> {
    let file = ctx.file("file", "x")?;
    let opts = read_only(&ctx, &[]);
    for path in ["file", "new"] {
        check::refused(&ctx.run(&ctx.probe(&["write", path]), &opts).await?, refusals(&ctx))?;
    }
    ensure!(ctx.outside(&["write", "file"])? == "ok" && file.exists(), "not outside either");
    Ok(())
}

/// R21: these and no others.
async fn exceptions_are_writable(ctx: Ctx) -> Result<()> {
    fs::create_dir_all(ctx.workspace().join("a/out"))?;
    let opts = read_only(&ctx, &["a/out"]);
    check::printed(&ctx.run(&ctx.probe(&["write", "a/out/new"]), &opts).await?, "ok")?;
    ensure!(ctx.workspace().join("a/out/new").exists(), "it is not on the host");
    check::refused(&ctx.run(&ctx.probe(&["write", "a/new"]), &opts).await?, refusals(&ctx))
}

/// R21
async fn an_exception_may_be_a_file(ctx: Ctx) -> Result<()> {
    ctx.file("log", "")?;
    let opts = read_only(&ctx, &["log"]);
    check::printed(&ctx.run(&ctx.probe(&["write", "log"]), &opts).await?, "ok")?;
    check::refused(&ctx.run(&ctx.probe(&["write", "other"]), &opts).await?, refusals(&ctx))
}

fn owner(ctx: &Ctx, name: &str) -> Result<(u32, u32)> {
    let metadata = ctx.workspace().join(name).metadata()?;
    Ok((metadata.uid(), metadata.gid()))
}

/// R24: the user who runs the tests made the workspace.
async fn new_files_belong_to_the_caller(ctx: Ctx) -> Result<()> {
    check::printed(&ctx.inside(&["write", "new"]).await?, "ok")?;
    let caller = rustix::process::geteuid().as_raw();
    let (uid, _) = owner(&ctx, "new")?;
    ensure!(uid == caller, "it belongs to {uid}, not to {caller}");
    Ok(())
}

/// R24: root works on another user's workspace, and leaves no files of root there.
async fn new_files_belong_to_the_owner(ctx: Ctx) -> Result<()> {
    if !is_root() {
        bail!(Skip("only root has workspaces of others".into()));
    }
    chown(ctx.workspace(), Some(OTHER_USER), Some(OTHER_USER))?;
    check::printed(&ctx.inside(&["write", "new"]).await?, "ok")?;
    ensure!(owner(&ctx, "new")? == (OTHER_USER, OTHER_USER), "it belongs to {:?}", owner(&ctx, "new")?);
    Ok(())
}

/// R24: a user named in the options is used.
async fn a_user_can_be_named(ctx: Ctx) -> Result<()> {
    if !is_root() {
        bail!(Skip("only root can run commands as others".into()));
    }
    fs::set_permissions(ctx.workspace(), std::os::unix::fs::PermissionsExt::from_mode(0o777))?;
    let opts = ctx.opts().with_user(User::Id { uid: OTHER_USER, gid: OTHER_USER });
    check::printed(&ctx.run(&ctx.probe(&["ids"]), &opts).await?, &format!("{OTHER_USER} {OTHER_USER}"))?;
    check::printed(&ctx.run(&ctx.probe(&["write", "new"]), &opts).await?, "ok")?;
    ensure!(owner(&ctx, "new")? == (OTHER_USER, OTHER_USER), "it belongs to {:?}", owner(&ctx, "new")?);
    Ok(())
}
