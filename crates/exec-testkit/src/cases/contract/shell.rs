//! A shell string gives the same results as a command.

use std::sync::Arc;

use anyhow::{Result, ensure};
use exec_core::{Ended, ExecutorExt, ShellCommandAdapter};

use crate::case::{Case, case};
use crate::{Ctx, check};

pub(super) const CASES: &[Case] = &[
    case!(a_string_is_read_by_the_shell, "R7"),
    case!(a_string_gives_the_same_result_as_a_command, "R7"),
    case!(a_string_can_be_started, "R7"),
    case!(another_shell_can_be_named, "R7"),
    case!(the_shell_in_short, "R1"),
];

fn adapter(ctx: &Ctx) -> ShellCommandAdapter {
    ShellCommandAdapter::new(Arc::clone(ctx.executor()), ctx.opts())
}

/// R7: pipes, quotes and variables have their usual meaning.
async fn a_string_is_read_by_the_shell(ctx: Ctx) -> Result<()> {
    let result = adapter(&ctx).run("x='two  words'; echo \"$x\" | tr a-z A-Z; exit 3").await?;
    check::exited(&result, 3)?;
    ensure!(result.stdout.text() == "TWO  WORDS\n", "{}", check::describe(&result));
    Ok(())
}

/// R7: the shell reports a missing program in a string.
async fn a_string_gives_the_same_result_as_a_command(ctx: Ctx) -> Result<()> {
    let script = "no-such-program-anywhere";
    let (through, direct) = (adapter(&ctx).run(script).await?, ctx.sh(script).await?);
    check::exited(&through, 127)?;
    ensure!(through.stderr.bytes() == direct.stderr.bytes(), "{}", check::describe(&through));
    Ok(())
}

/// R7
async fn a_string_can_be_started(ctx: Ctx) -> Result<()> {
    let run = adapter(&ctx).start("echo ready; exec ./exec-probe pause x").await?;
    crate::stream::until(&run, "ready\n").await?;
    run.cancel();
    crate::stream::rest(&run).await;
    check::ended(&run.wait().await?, Ended::Cancelled)
}

/// R7
async fn another_shell_can_be_named(ctx: Ctx) -> Result<()> {
    let result = adapter(&ctx).with_shell(["sh", "-eu", "-c"]).run("echo a; false; echo b").await?;
    check::exited(&result, 1)?;
    ensure!(result.stdout.text() == "a\n", "{}", check::describe(&result));
    Ok(())
}

/// R1: through the trait object too.
async fn the_shell_in_short(ctx: Ctx) -> Result<()> {
    check::printed(&ctx.executor().shell("echo short", &ctx.opts()).await?, "short")
}
