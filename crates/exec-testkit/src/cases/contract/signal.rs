//! Signals sent to a run reach the command.

use anyhow::{Result, ensure};
use exec_core::{Cmd, Ended, Signal, Status};

use crate::case::{Case, case};
use crate::{Ctx, check, processes, stream};

pub(super) const CASES: &[Case] = &[
    case!(signals_reach_the_command, "R12"),
    case!(signals_reach_the_whole_group, "R12"),
    case!(a_fatal_signal_is_reported, "R12"),
    case!(a_command_begins_with_default_signals, "R50"),
];

/// R12: each signal arrives as itself, and the command decides what it means.
async fn signals_reach_the_command(ctx: Ctx) -> Result<()> {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::USR1] {
        let run = ctx.start(&ctx.probe(&["wait-signal"]), &ctx.opts()).await?;
        stream::until(&run, "ready\n").await?;
        run.signal(signal);
        stream::until(&run, &format!("got {signal}\n")).await?;
        stream::rest(&run).await;
        let outcome = run.wait().await?;
        ensure!((outcome.ended, outcome.status) == (Ended::Exited, Status::Code(7)), "{outcome:?}");
    }
    Ok(())
}

/// R12: the command's children get it too, as with Ctrl-C in a terminal.
async fn signals_reach_the_whole_group(ctx: Ctx) -> Result<()> {
    let script = "trap 'echo the shell too' USR1; ./exec-probe wait-signal; echo code $?";
    let run = ctx.start(&Cmd::shell(script), &ctx.opts()).await?;
    stream::until(&run, "ready\n").await?;
    run.signal(Signal::USR1);
    let (stdout, _) = stream::rest(&run).await;
    let said = String::from_utf8_lossy(&stdout);
    ensure!(said.contains("got SIGUSR1") && said.contains("the shell too"), "{said:?}");
    Ok(())
}

/// R12: a signal that the caller sent and the command did not survive is the command's end, not a cancel.
async fn a_fatal_signal_is_reported(ctx: Ctx) -> Result<()> {
    let run = ctx.start(&ctx.probe(&["pause", ctx.marker()]), &ctx.opts()).await?;
    stream::until(&run, "ready\n").await?;
    run.signal(Signal::KILL);
    stream::rest(&run).await;
    let outcome = run.wait().await?;
    check::ended(&outcome, Ended::Signalled)?;
    check::died_of(&outcome, Signal::KILL)?;
    processes::ensure_none(ctx.marker())
}

/// R50: nothing blocked and nothing ignored, whatever the caller and its supervisor do.
async fn a_command_begins_with_default_signals(ctx: Ctx) -> Result<()> {
    let result = ctx.inside(&["signals"]).await?;
    check::printed(&result, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000")
}
