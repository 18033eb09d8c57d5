//! A command's input: nothing, given bytes, or the caller's writes.

use anyhow::{Result, ensure};
use bytes::Bytes;
use exec_core::{ExecResult, Stdin};

use crate::case::{Case, case};
use crate::{Ctx, check, stream};

pub(super) const CASES: &[Case] = &[
    case!(empty_input_ends_at_once, "R2"),
    case!(bytes_arrive_whole, "R2"),
    case!(written_bytes_arrive_as_they_come, "R5"),
    case!(large_input_flows_both_ways, "R5"),
    case!(unread_input_does_no_harm, "R5"),
    case!(writing_after_the_end_does_no_harm, "R5"),
];

async fn cat(ctx: &Ctx, stdin: Stdin) -> Result<ExecResult> {
    ctx.run(&ctx.probe(&["cat"]), &ctx.opts().with_stdin(stdin)).await
}

/// R2: by default a command that reads gets end of file.
async fn empty_input_ends_at_once(ctx: Ctx) -> Result<()> {
    check::printed(&cat(&ctx, Stdin::Empty).await?, "")
}

/// R2: given bytes, then end of file.
async fn bytes_arrive_whole(ctx: Ctx) -> Result<()> {
    check::printed(&cat(&ctx, Stdin::Bytes(Bytes::from_static(b"a\nb"))).await?, "a\nb")
}

/// R5: each write is answered before the next, so no buffer has to fill up first.
async fn written_bytes_arrive_as_they_come(ctx: Ctx) -> Result<()> {
    let run = ctx.start(&ctx.probe(&["cat"]), &ctx.opts().with_stdin(Stdin::Stream)).await?;
    let stdin = run.stdin();
    for line in ["one\n", "two\n", "three\n"] {
        stdin.write(line).await?;
        ensure!(stream::until(&run, line).await? == line, "{line:?} did not come back");
    }
    stdin.close();
    stream::rest(&run).await;
    ensure!(run.wait().await?.exit_code() == Some(0), "it did not end with its input");
    Ok(())
}

/// R5: more bytes than all buffers hold go in and come out unchanged.
async fn large_input_flows_both_ways(ctx: Ctx) -> Result<()> {
    let bytes: Bytes = (0..8 << 20).map(|index: u32| (index % 251) as u8).collect();
    let run = ctx.start(&ctx.probe(&["cat"]), &ctx.opts().with_stdin(Stdin::Stream)).await?;
    let stdin = run.stdin();
    let input = bytes.clone();
    let writer = tokio::spawn(async move {
        stdin.write(input).await?;
        stdin.close();
        anyhow::Ok(())
    });
    let (output, _) = stream::rest(&run).await;
    writer.await??;
    ensure!(output == bytes, "{} of {} bytes came back, or others", output.len(), bytes.len());
    Ok(())
}

/// R5: a command that ends without reading is not held up by what it was given.
async fn unread_input_does_no_harm(ctx: Ctx) -> Result<()> {
    let opts = ctx.opts().with_stdin(Stdin::Bytes(vec![b'x'; 4 << 20].into()));
    check::exited(&ctx.run(&ctx.probe(&["exit", "3"]), &opts).await?, 3)
}

/// R5: a late write is not an error and does not block.
async fn writing_after_the_end_does_no_harm(ctx: Ctx) -> Result<()> {
    let run = ctx.start(&ctx.probe(&["exit", "0"]), &ctx.opts().with_stdin(Stdin::Stream)).await?;
    run.wait().await?;
    run.stdin().write(vec![b'x'; 1 << 20]).await?;
    run.stdin().close();
    Ok(())
}
