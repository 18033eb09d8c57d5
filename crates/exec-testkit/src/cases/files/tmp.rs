//! `/tmp` and `/run` are private to the run.

use std::path::Path;

use anyhow::{Result, ensure};

use crate::case::{Case, case};
use crate::{Ctx, check};

pub(super) const CASES: &[Case] = &[
    case!(tmp_is_writable, "R20"),
    case!(tmp_is_not_the_hosts, "R20", PrivateTmp),
    case!(tmp_is_not_the_next_runs, "R20", PrivateTmp),
    case!(tmp_is_open_to_all_users, "R20", PrivateTmp),
    case!(run_is_not_the_hosts, "R20", PrivateTmp),
    case!(programs_in_tmp_run, "R20", PrivateTmp),
];

/// R20: whether it is private or not.
async fn tmp_is_writable(ctx: Ctx) -> Result<()> {
    let script = "f=$(mktemp) && echo x > \"$f\" && rm \"$f\" && echo ok";
    check::printed(&ctx.sh(script).await?, "ok")
}

/// R20: files written there do not reach the host.
async fn tmp_is_not_the_hosts(ctx: Ctx) -> Result<()> {
    let path = format!("/tmp/{}", ctx.marker());
    check::printed(&ctx.inside(&["write", &path]).await?, "ok")?;
    ensure!(!Path::new(&path).exists(), "{path} is on the host");
    Ok(())
}

/// R20: nor do they reach the next command.
async fn tmp_is_not_the_next_runs(ctx: Ctx) -> Result<()> {
    let path = format!("/tmp/{}", ctx.marker());
    check::printed(&ctx.inside(&["write", &path]).await?, "ok")?;
    check::refused(&ctx.inside(&["read", &path]).await?, &["ENOENT"])
}

/// R20
async fn tmp_is_open_to_all_users(ctx: Ctx) -> Result<()> {
    check::printed(&ctx.sh("stat -c %a /tmp /run").await?, "1777\n1777")
}

/// R20
async fn run_is_not_the_hosts(ctx: Ctx) -> Result<()> {
    let path = format!("/run/{}", ctx.marker());
    check::printed(&ctx.inside(&["write", &path]).await?, "ok")?;
    ensure!(!Path::new(&path).exists(), "{path} is on the host");
    Ok(())
}

/// R20: compilers run their test programs there.
async fn programs_in_tmp_run(ctx: Ctx) -> Result<()> {
    let script = "cp exec-probe /tmp/probe && /tmp/probe exit 7";
    check::exited(&ctx.sh(script).await?, 7)
}
