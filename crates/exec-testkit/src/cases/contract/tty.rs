//! Terminals, for executors that have them.

use anyhow::{Result, ensure};
use exec_core::{Execution, Stdin, WindowSize};

use crate::case::{Case, Need, case};
use crate::{Ctx, check, processes, stream};

pub(super) const CASES: &[Case] = &[
    case!(all_streams_are_the_terminal, "R2"; Need::Terminals),
    case!(the_size_can_change, "R5"; Need::Terminals),
    case!(everything_arrives_as_standard_output, "R3"; Need::Terminals),
    case!(a_typed_interrupt_is_a_signal, "R5"; Need::Terminals),
    case!(closing_the_input_types_the_end_of_file, "R5"; Need::Terminals),
    case!(dropping_kills_on_a_terminal, "R5 F3"; Need::Terminals),
    case!(without_a_terminal_streams_are_pipes, "R2"),
    case!(the_callers_terminal_is_out_of_reach, "R50"),
];

const SIZE: WindowSize = WindowSize { rows: 33, cols: 101 };

async fn start(ctx: &Ctx, args: &[&str]) -> Result<Execution> {
    ctx.start(&ctx.probe(args), &ctx.opts().with_tty(SIZE).with_stdin(Stdin::Stream)).await
}

/// R2: the command has a terminal of the requested size.
async fn all_streams_are_the_terminal(ctx: Ctx) -> Result<()> {
    let run = start(&ctx, &["tty-size"]).await?;
    let (stdout, _) = stream::rest(&run).await;
    let said = String::from_utf8_lossy(&stdout);
    ensure!(said.contains("terminals [true, true, true]") && said.contains("size 33x101"), "{said:?}");
    Ok(())
}

/// R5: a resize reaches the command as a signal and as the new size.
async fn the_size_can_change(ctx: Ctx) -> Result<()> {
    let run = start(&ctx, &["tty-watch"]).await?;
    stream::until(&run, "size 33x101").await?;
    run.control().resize(WindowSize { rows: 50, cols: 120 });
    stream::until(&run, "now 50x120").await?;
    Ok(())
}

/// R3: with a terminal there is one stream.
async fn everything_arrives_as_standard_output(ctx: Ctx) -> Result<()> {
    let opts = ctx.opts().with_tty(SIZE);
    let result = ctx.run(&exec_core::Cmd::shell("echo out; echo err >&2"), &opts).await?;
    check::exited(&result, 0)?;
    ensure!(result.stdout.text() == "out\r\nerr\r\n", "{}", check::describe(&result));
    ensure!(result.stderr.total() == 0, "{}", check::describe(&result));
    Ok(())
}

/// R5: Ctrl-C interrupts.
async fn a_typed_interrupt_is_a_signal(ctx: Ctx) -> Result<()> {
    let run = start(&ctx, &["wait-signal"]).await?;
    stream::until(&run, "ready").await?;
    run.stdin().write("\x03").await?;
    stream::until(&run, "got SIGINT").await?;
    Ok(())
}

/// R5: closing the input is typed as end of file.
async fn closing_the_input_types_the_end_of_file(ctx: Ctx) -> Result<()> {
    let run = start(&ctx, &["cat"]).await?;
    run.stdin().write("typed\n").await?;
    // Once by the terminal's echo, once by the command.
    stream::until(&run, "typed\r\ntyped\r\n").await?;
    run.stdin().close();
    stream::rest(&run).await;
    ensure!(run.wait().await?.exit_code() == Some(0), "it did not end with its input");
    Ok(())
}

/// R5, F3: dropping ends a command on a terminal like any other.
async fn dropping_kills_on_a_terminal(ctx: Ctx) -> Result<()> {
    let run = start(&ctx, &["ignore-signals", ctx.marker()]).await?;
    processes::eventually_alive(ctx.marker()).await?;
    drop(run);
    processes::eventually_dead(ctx.marker()).await
}

/// R2: pipes are not terminals.
async fn without_a_terminal_streams_are_pipes(ctx: Ctx) -> Result<()> {
    let result = ctx.inside(&["tty-size"]).await?;
    ensure!(
        result.stdout.text() == "terminals [false, false, false]\nerrno ENOTTY\n",
        "{}",
        check::describe(&result)
    );
    Ok(())
}

/// R50: the command has its own session: a terminal of the caller is not its terminal.
async fn the_callers_terminal_is_out_of_reach(ctx: Ctx) -> Result<()> {
    check::refused(&ctx.inside(&["write", "/dev/tty"]).await?, &["ENXIO"])
}
