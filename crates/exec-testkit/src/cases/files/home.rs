//! Home directories: the caller's is hidden, the command's is its own.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};

use crate::case::{Case, Skip, case};
use crate::{Ctx, check};

pub(super) const CASES: &[Case] = &[
    case!(home_is_writable, "R24"),
    case!(the_callers_home_is_hidden, "A1 R20", HidesFiles),
    case!(files_written_at_home_stay_inside, "R24", HidesFiles),
    case!(other_homes_are_hidden, "A1 R20", HidesFiles),
];

/// A file in the caller's home, removed when this is dropped.
struct Canary(PathBuf);

impl Canary {
    fn place(ctx: &Ctx) -> Result<Self> {
        let home = std::env::var_os("HOME").map(PathBuf::from).context("no HOME")?;
        let path = home.join(format!(".{}", ctx.marker()));
        match fs::write(&path, "x") {
            Ok(()) => Ok(Self(path)),
            Err(error) => bail!(Skip(format!("{} can't be written: {error}", home.display()))),
        }
    }
}

impl Drop for Canary {
    fn drop(&mut self) {
        // A leftover is harmless and its name tells its origin.
        let _ = fs::remove_file(&self.0);
    }
}

/// R24: tools keep their caches there.
async fn home_is_writable(ctx: Ctx) -> Result<()> {
    let script = format!("f=\"$HOME/.{0}\"; echo x > \"$f\" && rm \"$f\" && echo ok", ctx.marker());
    check::printed(&ctx.sh(&script).await?, "ok")
}

/// A1, R20
async fn the_callers_home_is_hidden(ctx: Ctx) -> Result<()> {
    let canary = Canary::place(&ctx)?;
    let args = ["read", canary.0.to_str().context("path")?];
    check::refused_inside_only(&ctx, &args, &["ENOENT", "EACCES"]).await
}

/// R24: it is removed with the run.
async fn files_written_at_home_stay_inside(ctx: Ctx) -> Result<()> {
    let name = format!(".{}", ctx.marker());
    let result = ctx.sh(&format!("echo x > \"$HOME/{name}\" && echo \"$HOME\"")).await?;
    check::exited(&result, 0)?;
    let home = PathBuf::from(result.stdout.text().trim_end());
    ensure!(!home.join(&name).exists(), "it is on the host, in {}", home.display());
    let again = ctx.sh(&format!("test -e \"$HOME/{name}\" && echo there")).await?;
    check::exited(&again, 1)
}

/// A1, R20: every home is empty, except the command's own.
async fn other_homes_are_hidden(ctx: Ctx) -> Result<()> {
    let outside = fs::read_dir("/home").map_or(0, Iterator::count);
    let result = ctx.sh("ls -A /home /root 2>/dev/null; true").await?;
    check::exited(&result, 0)?;
    let said = result.stdout.text();
    let home = std::env::var("HOME").unwrap_or_default();
    for person in fs::read_dir("/home").into_iter().flatten().flatten() {
        let name = person.file_name().to_string_lossy().into_owned();
        let own = home == format!("/home/{name}");
        ensure!(own || !said.lines().any(|line| line == name), "/home/{name} can be seen");
    }
    if outside == 0 {
        bail!(Skip("this host has no home below /home".into()));
    }
    Ok(())
}
