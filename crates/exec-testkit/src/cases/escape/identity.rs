//! The command's identity to the kernel: an ordinary user without privileges.

use std::os::unix::fs::chown;

use anyhow::{Context, Result, ensure};

use crate::case::{Case, case};
use crate::outside::is_root;
use crate::{Ctx, check};

pub(super) const CASES: &[Case] = &[
    case!(no_capabilities, "A27 R50", NoPrivileges),
    case!(no_new_privileges, "A27 R50", NoPrivileges),
    case!(a_filter_is_on, "A27 R50", SyscallFilter),
    case!(the_user_is_not_root, "A27 R50"),
    case!(namespaces_are_its_own, "A29", HidesProcesses, HidesFiles, NoNetwork),
    case!(the_user_namespace_is_its_own, "A29", OwnUserNamespace),
    case!(only_the_standard_streams_are_open, "A11"),
];

const OTHER_USER: u32 = 12_345;

async fn status(ctx: &Ctx) -> Result<Vec<String>> {
    let result = ctx.inside(&["status"]).await?;
    check::exited(&result, 0)?;
    Ok(result.stdout.text().lines().map(str::to_owned).collect())
}

fn ensure_line(lines: &[String], wanted: &str) -> Result<()> {
    ensure!(lines.iter().any(|line| line == wanted), "{wanted:?} is not in {lines:?}");
    Ok(())
}

/// A27, R50: none in any set.
async fn no_capabilities(ctx: Ctx) -> Result<()> {
    let lines = status(&ctx).await?;
    for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
        ensure_line(&lines, &format!("{set}: 0000000000000000"))?;
    }
    Ok(())
}

/// A27, R50
async fn no_new_privileges(ctx: Ctx) -> Result<()> {
    ensure_line(&status(&ctx).await?, "NoNewPrivs: 1")
}

/// A27, R50
async fn a_filter_is_on(ctx: Ctx) -> Result<()> {
    ensure_line(&status(&ctx).await?, "Seccomp: 2")
}

/// A27, R50: the owner of the workspace in all four ids, and none of the caller's groups.
async fn the_user_is_not_root(ctx: Ctx) -> Result<()> {
    let mut uid = rustix::process::geteuid().as_raw();
    if is_root() {
        chown(ctx.workspace(), Some(OTHER_USER), Some(OTHER_USER))?;
        uid = OTHER_USER;
    }
    let lines = status(&ctx).await?;
    ensure_line(&lines, &format!("Uid: {uid} {uid} {uid} {uid}"))?;
    let groups = lines.iter().find(|line| line.starts_with("Groups:")).context("no groups")?;
    ensure!(!groups.split(' ').any(|group| group == "0"), "it is in root's group: {groups}");
    Ok(())
}

/// The links of these namespaces differ inside and outside.
async fn are_its_own(ctx: &Ctx, kinds: &[&str]) -> Result<()> {
    let paths: Vec<String> = kinds.iter().map(|kind| format!("/proc/self/ns/{kind}")).collect();
    let mut args = vec!["readlink"];
    args.extend(paths.iter().map(String::as_str));
    let result = ctx.inside(&args).await?;
    check::exited(&result, 0)?;
    let (inside, outside) = (result.stdout.text(), ctx.outside(&args)?);
    ensure!(inside.lines().count() == kinds.len(), "{}", check::describe(&result));
    for (inside, outside) in inside.lines().zip(outside.lines()) {
        ensure!(inside != outside, "{inside} is the host's");
    }
    Ok(())
}

/// A29
async fn namespaces_are_its_own(ctx: Ctx) -> Result<()> {
    are_its_own(&ctx, &["pid", "mnt", "net", "ipc", "uts"]).await
}

/// A29: separate, because an engine run by root shares the host's and does not claim it.
async fn the_user_namespace_is_its_own(ctx: Ctx) -> Result<()> {
    are_its_own(&ctx, &["user"]).await
}

/// A11: the caller has an inheritable descriptor; the command does not get it.
async fn only_the_standard_streams_are_open(ctx: Ctx) -> Result<()> {
    ensure!(ctx.outside(&["fds"])?.lines().count() > 3, "nothing is inherited outside either");
    check::printed(&ctx.inside(&["fds"]).await?, "0\n1\n2")
}
