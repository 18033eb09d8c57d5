//! Files outside the cell.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use exec_core::{IsolationLevel, MountSpec};

use crate::case::{Case, Skip, case};
use crate::outside::is_root;
use crate::probe::open_to_all;
use crate::{Ctx, check};

pub(super) const CASES: &[Case] = &[
    case!(files_outside_are_hidden, "A1", HidesFiles),
    case!(neighbours_of_the_workspace_are_hidden, "A1", HidesFiles),
    case!(the_system_is_read_only, "A2 R20", ReadOnlySystem),
    case!(the_root_is_read_only, "A2 R20", ReadOnlySystem),
    case!(hard_links_to_read_only_files, "A5", HidesFiles),
    case!(root_reads_no_system_secrets, "A49 R20", HidesFiles),
    case!(setuid_gives_no_privileges, "A7", NoPrivileges),
];

/// The user of the command where the tests may choose.
const OTHER_USER: u32 = 12_345;

/// A1: a file that every user may read outside.
async fn files_outside_are_hidden(ctx: Ctx) -> Result<()> {
    let dir = tempfile::tempdir()?;
    open_to_all(dir.path())?;
    let canary = dir.path().join("canary");
    fs::write(&canary, "x")?;
    let args = ["read", canary.to_str().context("path")?];
    check::refused_inside_only(&ctx, &args, &["ENOENT"]).await
}

/// A1: the parent directory shows only the path to the workspace.
async fn neighbours_of_the_workspace_are_hidden(ctx: Ctx) -> Result<()> {
    let neighbour = tempfile::tempdir()?;
    ensure!(neighbour.path().parent() == ctx.workspace().parent(), "not a neighbour");
    let result = ctx.sh("ls -A ..").await?;
    let own = ctx.workspace().file_name().context("name")?.to_string_lossy().into_owned();
    check::printed(&result, &own)
}

/// The errors of a write to a system directory: of a read-only mount or, without mounts, of Landlock.
fn read_only(ctx: &Ctx) -> &'static [&'static str] {
    if ctx.executor().capabilities().level >= IsolationLevel::Namespaces {
        &["EROFS"]
    } else {
        &["EACCES", "EROFS"]
    }
}

/// A2, R20
async fn the_system_is_read_only(ctx: Ctx) -> Result<()> {
    for dir in ["/usr", "/usr/bin", "/etc"] {
        let path = format!("{dir}/{}", ctx.marker());
        check::refused(&ctx.inside(&["write", &path]).await?, read_only(&ctx))?;
        if is_root() {
            let outside = ctx.outside(&["write", &path]);
            fs::remove_file(&path).ok();
            ensure!(outside? == "ok", "root can't write {dir} on the host either");
        }
    }
    Ok(())
}

/// A2, R20: nothing can be made in the root directory.
async fn the_root_is_read_only(ctx: Ctx) -> Result<()> {
    let path = format!("/{}", ctx.marker());
    check::refused(&ctx.inside(&["write", &path]).await?, read_only(&ctx))
}

/// A5: a second name in the workspace would make a read-only file writable.
async fn hard_links_to_read_only_files(ctx: Ctx) -> Result<()> {
    let dir = tempfile::tempdir()?;
    open_to_all(dir.path())?;
    fs::write(dir.path().join("secret"), "x")?;
    let from = dir.path().join("secret");
    let args = ["link", from.to_str().context("path")?, "second-name"];
    let opts = ctx.opts().with_mount(MountSpec::read_only(dir.path()));
    let result = ctx.run(&ctx.probe(&args), &opts).await?;
    check::refused(&result, &["EXDEV", "EPERM", "EROFS"])?;
    ensure!(ctx.outside(&args)? == "ok", "the link can't be made outside either");
    Ok(())
}

/// A49, R20: user 0 owns files that only root may read, even below `/etc`. Inside they are empty or can't be
/// opened.
async fn root_reads_no_system_secrets(ctx: Ctx) -> Result<()> {
    if !is_root() {
        bail!(Skip("only root's commands own the system's files".into()));
    }
    let secrets = unreadable_below(Path::new("/etc"))?;
    let mut nested = 0;
    for secret in secrets.iter().map(|path| path.to_string_lossy()) {
        let args = ["read", &secret];
        let said = ctx.inside(&args).await?.stdout.text();
        ensure!(said == "ok 0\n" || said.starts_with("errno "), "{secret}: {said}");
        nested += usize::from(secret.matches('/').count() > 2 && is_ok_and_not_empty(&ctx.outside(&args)?));
    }
    if nested == 0 {
        bail!(Skip("masked, but the host has no such file in a sub-directory of /etc".into()));
    }
    Ok(())
}

fn is_ok_and_not_empty(said: &str) -> bool {
    said.starts_with("ok ") && said != "ok 0"
}

/// The files that an ordinary user can't read, because of their own mode or that of a directory above.
fn unreadable_below(directory: &Path) -> Result<Vec<PathBuf>> {
    let script =
        "find \"$0\" -type d ! -perm -005 -prune -exec find {} -type f \\; -o -type f ! -perm -004 -print";
    let found = Command::new("sh").arg("-c").arg(script).arg(directory).output()?;
    Ok(String::from_utf8(found.stdout)?.lines().map(PathBuf::from).collect())
}

/// A7: a program of root's with the setuid bit does not make its user root.
async fn setuid_gives_no_privileges(ctx: Ctx) -> Result<()> {
    if !is_root() {
        bail!(Skip("only root can make a setuid program of root's".into()));
    }
    let program = ctx.workspace().join("setuid-probe");
    fs::copy(ctx.host_probe(), &program)?;
    fs::set_permissions(&program, Permissions::from_mode(0o4755))?;
    chown(ctx.workspace(), Some(OTHER_USER), Some(OTHER_USER))?;
    let outside = Command::new(&program).arg("ids").uid(OTHER_USER).gid(OTHER_USER).output()?;
    ensure!(outside.stdout == format!("{OTHER_USER} 0\n").as_bytes(), "setuid does not work outside either");
    let result = ctx.run(&exec_core::Cmd::new(&program).arg("ids"), &ctx.opts()).await?;
    check::printed(&result, &format!("{OTHER_USER} {OTHER_USER}"))
}
