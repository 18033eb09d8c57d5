//! Output is delivered in the order it was written, as it is written, between the start and the exit.

use anyhow::{Context, Result, ensure};
use exec_core::{Event, Status, Stdin, Stream};

use crate::case::{Case, case};
use crate::{Ctx, stream};

pub(super) const CASES: &[Case] = &[
    case!(output_arrives_while_the_command_runs, "R5"),
    case!(order_between_the_streams_is_kept, "R5"),
    case!(order_within_a_stream_is_kept, "R5"),
    case!(started_comes_first_and_exited_once, "R5"),
    case!(after_the_last_event_wait_has_the_same_status, "R5"),
];

/// R5: output arrives although the command is still running and waits for an answer to it.
async fn output_arrives_while_the_command_runs(ctx: Ctx) -> Result<()> {
    let opts = ctx.opts().with_stdin(Stdin::Stream);
    let run = ctx.start(&exec_core::Cmd::shell("echo first; read answer; echo $answer"), &opts).await?;
    stream::until(&run, "first\n").await?;
    run.stdin().write("second\n").await?;
    stream::until(&run, "second\n").await?;
    Ok(())
}

/// R5: if one write followed the reading of the other, the events are in that order too.
async fn order_between_the_streams_is_kept(ctx: Ctx) -> Result<()> {
    let run = ctx.start(&ctx.probe(&["interleave", "50"]), &ctx.opts()).await?;
    let mut seen = String::new();
    for event in stream::events(&run).await {
        if let Event::Output { bytes, .. } = event {
            seen.push_str(&String::from_utf8_lossy(&bytes));
        }
    }
    let expected = (0..50).flat_map(|index| [format!("o{index}"), format!("e{index}")]);
    ensure!(seen.lines().eq(expected), "out of order: {seen:?}");
    Ok(())
}

/// R5: many small writes stay in order.
async fn order_within_a_stream_is_kept(ctx: Ctx) -> Result<()> {
    let run = ctx.start(&exec_core::Cmd::shell("seq 1 20000"), &ctx.opts()).await?;
    let (stdout, _) = stream::rest(&run).await;
    let numbers: Vec<u32> = String::from_utf8_lossy(&stdout).lines().flat_map(str::parse).collect();
    ensure!(numbers == (1..=20_000).collect::<Vec<_>>(), "{} numbers, or out of order", numbers.len());
    Ok(())
}

/// R5: nothing before the start, and exactly one exit.
async fn started_comes_first_and_exited_once(ctx: Ctx) -> Result<()> {
    let run = ctx.start(&exec_core::Cmd::shell("echo a; echo b >&2; exit 3"), &ctx.opts()).await?;
    let events = stream::events(&run).await;
    ensure!(matches!(events.first(), Some(Event::Started { .. })), "first is {:?}", events.first());
    let exits: Vec<_> = events.iter().filter(|event| matches!(event, Event::Exited(_))).collect();
    ensure!(exits == [&Event::Exited(Status::Code(3))], "exits: {exits:?}");
    let outputs = |wanted| {
        events.iter().any(|event| matches!(event, Event::Output { stream, .. } if *stream == wanted))
    };
    ensure!(outputs(Stream::Stdout) && outputs(Stream::Stderr), "output is missing: {events:?}");
    Ok(())
}

/// R5: the event and the result agree.
async fn after_the_last_event_wait_has_the_same_status(ctx: Ctx) -> Result<()> {
    let run = ctx.start(&ctx.probe(&["raise", "9"]), &ctx.opts()).await?;
    let events = stream::events(&run).await;
    let exited = events.iter().find_map(|event| match event {
        Event::Exited(status) => Some(*status),
        _ => None,
    });
    let status = run.wait().await?.status;
    ensure!(exited.context("no exit was reported")? == status, "{exited:?} is not {status:?}");
    ensure!(run.next_event().await.is_none(), "there is an event after the last");
    Ok(())
}
