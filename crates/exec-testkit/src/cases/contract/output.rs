//! Output is complete, however the command ended; omitted bytes are counted exactly.

use anyhow::{Result, ensure};
use exec_core::{ByteSize, Capture, Captured, Ended, Signal};

use crate::case::{Case, case};
use crate::{Ctx, check, stream};

pub(super) const CASES: &[Case] = &[
    case!(large_output_is_counted_exactly, "R3 A31"),
    case!(streams_are_kept_apart, "R3"),
    case!(the_spill_file_has_everything, "R3"),
    case!(complete_after_an_exit, "R3"),
    case!(complete_after_a_signal, "R3"),
    case!(complete_after_a_cancel, "R3"),
    case!(complete_after_a_time_out, "R3"),
    case!(closed_output_is_not_the_end, "R3"),
];

const CAP: u64 = 64 << 10;

fn pattern(from: u64, count: u64) -> Vec<u8> {
    (from..from + count).map(|index| (index % 251) as u8).collect()
}

/// Head and tail are those of the flood, and the rest is counted.
fn ensure_ends(captured: &Captured, total: u64) -> Result<()> {
    let (head, tail) = (captured.head(), captured.tail());
    let kept = (head.len() + tail.len()) as u64;
    ensure!(captured.omitted() == total - kept, "{} omitted of {total}, {kept} kept", captured.omitted());
    ensure!(head == pattern(0, head.len() as u64), "the beginning is not what was written");
    ensure!(tail == pattern(total - tail.len() as u64, tail.len() as u64), "the end is not what was written");
    Ok(())
}

/// R3, A31: 64 MiB through a 64 KiB window: head and tail are right, the count is exact.
async fn large_output_is_counted_exactly(ctx: Ctx) -> Result<()> {
    let total = 64 << 20;
    let opts = ctx.opts().with_capture(Capture { cap: ByteSize::bytes(CAP), spill: None });
    let result = ctx.run(&ctx.probe(&["flood", "stdout", &total.to_string()]), &opts).await?;
    ensure!(result.success(), "{:?}", result.outcome.status);
    ensure!(result.stdout.bytes().len() as u64 == CAP, "{} bytes kept", result.stdout.bytes().len());
    ensure_ends(&result.stdout, total)
}

/// R3: each stream has its own bounds and its own count.
async fn streams_are_kept_apart(ctx: Ctx) -> Result<()> {
    let opts = ctx.opts().with_capture(Capture { cap: ByteSize::bytes(CAP), spill: None });
    let script = "./exec-probe flood stdout 200000 & ./exec-probe flood stderr 300000; wait";
    let result = ctx.run(&exec_core::Cmd::shell(script), &opts).await?;
    ensure_ends(&result.stdout, 200_000)?;
    ensure_ends(&result.stderr, 300_000)
}

/// R3: with a spill file nothing is lost.
async fn the_spill_file_has_everything(ctx: Ctx) -> Result<()> {
    let spill = tempfile::tempdir()?;
    let capture = Capture { cap: ByteSize::bytes(CAP), spill: Some(spill.path().into()) };
    let result =
        ctx.run(&ctx.probe(&["flood", "stdout", "1000000"]), &ctx.opts().with_capture(capture)).await?;
    let path = result.stdout.spill_path().map(std::path::Path::to_owned);
    let written = path.map(std::fs::read).transpose()?.unwrap_or_default();
    ensure!(written == pattern(0, 1_000_000), "the file has {} bytes, or others", written.len());
    Ok(())
}

/// R3: output written right before the end is delivered.
async fn complete_after_an_exit(ctx: Ctx) -> Result<()> {
    let result = ctx.sh("./exec-probe flood stdout 500000; echo last >&2; exit 9").await?;
    check::exited(&result, 9)?;
    ensure_ends(&result.stdout, 500_000)?;
    ensure!(result.stderr.text() == "last\n", "{}", check::describe(&result));
    Ok(())
}

/// R3: even when a signal ended the command.
async fn complete_after_a_signal(ctx: Ctx) -> Result<()> {
    let result = ctx.sh("./exec-probe flood stdout 500000; kill -9 $$").await?;
    check::died_by_itself(&result.outcome, Signal::KILL)?;
    ensure_ends(&result.stdout, 500_000)
}

/// R3: even output written while the run is being stopped.
async fn complete_after_a_cancel(ctx: Ctx) -> Result<()> {
    let run = ctx.start(&ctx.probe(&["wait-signal"]), &ctx.opts()).await?;
    stream::until(&run, "ready\n").await?;
    run.cancel();
    let (stdout, _) = stream::rest(&run).await;
    check::ended(&run.wait().await?, Ended::Cancelled)?;
    ensure!(stdout == b"got SIGTERM\n", "{:?}", String::from_utf8_lossy(&stdout));
    Ok(())
}

/// R3: even output written before a time-out.
async fn complete_after_a_time_out(ctx: Ctx) -> Result<()> {
    let opts =
        ctx.opts().with_timeout(std::time::Duration::from_secs(1)).with_grace(std::time::Duration::ZERO);
    let script = format!("./exec-probe flood stdout 500000; exec ./exec-probe pause {}", ctx.marker());
    let result = ctx.run(&exec_core::Cmd::shell(script), &opts).await?;
    check::ended(&result.outcome, Ended::TimedOut)?;
    let total = 500_000 + "ready\n".len() as u64;
    ensure!(result.stdout.total() == total, "{} of {total} bytes", result.stdout.total());
    Ok(())
}

/// R3: a command that closes its output early is not over.
async fn closed_output_is_not_the_end(ctx: Ctx) -> Result<()> {
    let result = ctx.sh("exec >/dev/null 2>&1; ./exec-probe tick 3 50; exit 5").await?;
    check::exited(&result, 5)
}
