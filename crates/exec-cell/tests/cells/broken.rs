//! F10: a cell that dies, lies or sends garbage gives a typed error in bounded time, and is destroyed.

use std::time::Duration;

use crate::fake::{FakeCell, Heard, executor, facts, until};
use exec_cell::PoolConfig;
use exec_core::{ByteSize, Cmd, ErrorKind, ExecOpts, Executor};
use exec_wire::{Fatal, FromCell, Header, PROTOCOL_VERSION};
use rstest::rstest;

const NO_POOL: PoolConfig = PoolConfig { per_spec: 0, total: 0, idle: Duration::from_secs(1) };

fn opts() -> ExecOpts {
    ExecOpts::in_workspace(env!("CARGO_MANIFEST_DIR"))
        .with_workspace_mode(exec_core::WorkspaceMode::ReadOnly { writable: Vec::new() })
}

async fn dies_unready(_: FakeCell) {}

async fn says_fatal(mut cell: FakeCell) {
    cell.hear().await;
    cell.say(0, FromCell::Fatal(Fatal::Other("no room".into()))).await;
}

async fn wrong_version(mut cell: FakeCell) {
    cell.hear().await;
    cell.say(0, FromCell::Ready(Box::new(facts(PROTOCOL_VERSION + 1)))).await;
    cell.linger().await;
}

async fn babbles(mut cell: FakeCell) {
    cell.hear().await;
    cell.say_bytes(&[0xff; 64]).await;
    cell.linger().await;
}

async fn dies_after_start(mut cell: FakeCell) {
    cell.become_ready().await;
    cell.start_one().await;
}

async fn dies_inside_a_frame(mut cell: FakeCell) {
    cell.become_ready().await;
    let run = cell.start_one().await.unwrap_or(1);
    cell.say_bytes(&Header::stdout(run, 100).to_bytes()).await;
}

async fn ready_twice(mut cell: FakeCell) {
    cell.become_ready().await;
    cell.start_one().await;
    cell.say(0, FromCell::Ready(Box::new(facts(PROTOCOL_VERSION)))).await;
    cell.linger().await;
}

async fn closes_before_exit(mut cell: FakeCell) {
    cell.become_ready().await;
    let run = cell.start_one().await.unwrap_or(1);
    cell.say(run, FromCell::Closed(exec_wire::Closed::default())).await;
    cell.linger().await;
}

async fn floods_beyond_credit(mut cell: FakeCell) {
    cell.become_ready().await;
    let run = cell.start_one().await.unwrap_or(1);
    let piece = vec![0; 128 * 1024];
    for _ in 0..64 {
        cell.say(run, FromCell::Stdout(&piece)).await;
    }
    cell.linger().await;
}

async fn claims_a_huge_frame(mut cell: FakeCell) {
    cell.become_ready().await;
    let run = cell.start_one().await.unwrap_or(1);
    cell.say_bytes(&Header::stdout(run, u32::MAX).to_bytes()).await;
    cell.linger().await;
}

/// The start and the garbage in one piece: the caller that waits for the start still gets an answer.
async fn babbles_with_the_start(mut cell: FakeCell) {
    cell.become_ready().await;
    let run = loop {
        match cell.hear().await {
            Some(Heard::Start(run)) => break run,
            Some(_) => {}
            None => return,
        }
    };
    let mut bytes = Vec::new();
    FromCell::Started { pid: 2 }.encode(run, &mut bytes);
    bytes.extend([0xff; 64]);
    cell.say_bytes(&bytes).await;
    cell.linger().await;
}

/// A backend gets the reason it has to act on as data, not as text.
#[tokio::test]
async fn its_own_reason_is_kept() {
    let (executor, _, _) = executor(NO_POOL, says_fatal);
    let error = executor.start(&Cmd::new("true"), &opts()).await.unwrap_err();
    assert_eq!(exec_cell::fatal(&error), Some(&Fatal::Other("no room".into())));
    assert_eq!(error.to_string(), "fake: the sandbox ended unexpectedly: no room");
}

#[rstest]
#[case::dies_unready(dies_unready, ErrorKind::CellDied)]
#[case::says_fatal(says_fatal, ErrorKind::CellDied)]
#[case::wrong_version(wrong_version, ErrorKind::Protocol)]
#[case::babbles(babbles, ErrorKind::Protocol)]
#[case::dies_after_start(dies_after_start, ErrorKind::CellDied)]
#[case::babbles_with_the_start(babbles_with_the_start, ErrorKind::Protocol)]
#[case::dies_inside_a_frame(dies_inside_a_frame, ErrorKind::Protocol)]
#[case::ready_twice(ready_twice, ErrorKind::Protocol)]
#[case::closes_before_exit(closes_before_exit, ErrorKind::Protocol)]
#[case::floods_beyond_credit(floods_beyond_credit, ErrorKind::Protocol)]
#[case::claims_a_huge_frame(claims_a_huge_frame, ErrorKind::Protocol)]
#[tokio::test]
async fn is_a_typed_error_and_the_cell_is_gone<F>(#[case] script: fn(FakeCell) -> F, #[case] kind: ErrorKind)
where
    F: Future<Output = ()> + Send + 'static,
{
    let (executor, made, alive) = executor(NO_POOL, script);
    let error = match executor.start(&Cmd::new("true"), &opts()).await {
        Err(error) => error,
        // The violation is detected even if the output has no reader.
        Ok(execution) => execution.wait().await.err().unwrap_or_else(|| std::process::abort()),
    };
    assert_eq!((error.kind(), error.backend()), (kind, Some("fake")), "{error}");
    until(&made, 1).await;
    until(&alive, 0).await;
}

/// F4: a cell that never becomes ready is given up.
#[tokio::test(start_paused = true)]
async fn a_cell_that_never_answers_is_given_up() {
    let (executor, _, _) = executor(NO_POOL, |mut cell: FakeCell| async move { cell.linger().await });
    let error = executor.start(&Cmd::new("true"), &opts()).await.err().map(|error| error.kind());
    assert_eq!(error, Some(ErrorKind::CellDied));
}

/// F2's counterpart: a cell that does not enforce its deadline is destroyed by the host.
#[tokio::test(start_paused = true)]
async fn a_cell_that_ignores_its_deadline_is_destroyed() {
    let (executor, _, alive) = executor(NO_POOL, |mut cell: FakeCell| async move {
        cell.become_ready().await;
        cell.start_one().await;
        std::future::pending::<()>().await;
    });
    let opts = opts().with_timeout(Duration::from_secs(1)).with_output_limit(ByteSize::mib(1));
    let error = executor.run(&Cmd::new("true"), &opts).await.err().map(|error| error.kind());
    assert_eq!(error, Some(ErrorKind::CellDied));
    until(&alive, 0).await;
}

/// Serves its command, and then ignores the end of its stream.
async fn never_leaves(mut cell: FakeCell) {
    cell.become_ready().await;
    if let Some(run) = cell.start_one().await {
        cell.finish(run).await;
    }
    std::future::pending::<()>().await;
}

/// R10: whatever happens to its stream.
#[tokio::test(start_paused = true)]
async fn a_cell_that_does_not_end_with_its_stream_is_destroyed() {
    let (executor, _, alive) = executor(NO_POOL, never_leaves);
    assert!(executor.run(&Cmd::new("x"), &opts()).await.unwrap().success());
    until(&alive, 0).await;
}
