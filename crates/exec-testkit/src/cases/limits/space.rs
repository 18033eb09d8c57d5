//! Space for files.

use anyhow::{Result, ensure};
use exec_core::{ByteSize, Limit};

use crate::case::{Case, case};
use crate::{Ctx, check};

pub(super) const CASES: &[Case] = &[
    case!(tmp_has_a_size, "A30 R20", PrivateTmp),
    case!(home_has_a_size, "A30 R20", PrivateTmp, HidesFiles),
    case!(shared_memory_has_a_size, "A30 R20", PrivateTmp, HidesFiles),
    case!(files_have_a_size, "A30 R40"),
];

async fn is_full_after(ctx: &Ctx, path: &str) -> Result<()> {
    let mut opts = ctx.opts();
    opts.limits.tmp_size = Limit::Exactly(ByteSize::mib(1));
    let script = format!("exec ./exec-probe fill \"{path}\" 4194304");
    let result = ctx.run(&exec_core::Cmd::shell(script), &opts).await?;
    check::exited(&result, 0)?;
    let said = result.stdout.text();
    let after = said.trim_end().strip_prefix("errno ENOSPC after ").and_then(|text| text.parse::<u64>().ok());
    ensure!(after.is_some_and(|bytes| bytes <= 1 << 20), "{}", check::describe(&result));
    Ok(())
}

/// A30, R20
async fn tmp_has_a_size(ctx: Ctx) -> Result<()> {
    is_full_after(&ctx, "/tmp/large").await
}

/// A30, R20
async fn home_has_a_size(ctx: Ctx) -> Result<()> {
    is_full_after(&ctx, "$HOME/large").await
}

/// A30, R20: a third place that is backed by memory.
async fn shared_memory_has_a_size(ctx: Ctx) -> Result<()> {
    let result = ctx.sh("df -k /dev/shm | tail -n 1 | tr -s ' ' | cut -d ' ' -f 2").await?;
    check::exited(&result, 0)?;
    let kib: u64 = result.stdout.text().trim().parse()?;
    ensure!(kib > 0 && kib <= 2 << 20, "/dev/shm has {kib} KiB");
    Ok(())
}

/// A30, R40: the system refuses the write, or kills the program as it does by default.
async fn files_have_a_size(ctx: Ctx) -> Result<()> {
    let mut opts = ctx.opts();
    opts.limits.file_size = Limit::Exactly(ByteSize::mib(1));
    let result = ctx.run(&ctx.probe(&["fill", "large", "4194304"]), &opts).await?;
    check::died_by_itself(&result.outcome, "XFSZ".parse()?)?;
    ensure!(ctx.workspace().join("large").metadata()?.len() == 1 << 20, "it is larger");
    Ok(())
}
