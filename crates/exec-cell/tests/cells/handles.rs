//! F3, F9, F11: handles that are dropped, never read, or used by many callers at once.

use std::time::Duration;

use crate::fake::{FakeCell, Heard, executor, until};
use exec_cell::PoolConfig;
use exec_core::{Cmd, Ended, ExecOpts, Executor};
use exec_wire::{Closed, EndReason, Exited, FromCell, Status};

const NO_POOL: PoolConfig = PoolConfig { per_spec: 0, total: 0, idle: Duration::from_secs(1) };

fn opts() -> ExecOpts {
    ExecOpts::in_workspace(env!("CARGO_MANIFEST_DIR"))
        .with_workspace_mode(exec_core::WorkspaceMode::ReadOnly { writable: Vec::new() })
}

/// Runs until it is stopped.
async fn until_stopped(mut cell: FakeCell) {
    cell.become_ready().await;
    cell.start_one().await;
    while let Some(heard) = cell.hear().await {
        if let Heard::Stop(run) = heard {
            let exited = Exited { reason: EndReason::Stopped, status: Status::Signal(15) };
            cell.say(run, FromCell::Exited(exited)).await;
            cell.say(run, FromCell::Closed(Closed::default())).await;
        }
    }
}

/// F3
#[tokio::test]
async fn dropping_the_handle_stops_the_run_and_ends_the_cell() {
    let (executor, _, alive) = executor(NO_POOL, until_stopped);
    let execution = executor.start(&Cmd::new("true"), &opts()).await.unwrap();
    until(&alive, 1).await;
    drop(execution);
    until(&alive, 0).await;
}

/// F3
#[tokio::test]
async fn an_abandoned_start_leaves_nothing() {
    let (executor, _, alive) = executor(NO_POOL, |mut cell: FakeCell| async move {
        cell.become_ready().await;
        // Accepts the command, never reports its start, and obeys a stop.
        while let Some(heard) = cell.hear().await {
            if matches!(heard, Heard::Stop(_)) {
                return;
            }
        }
    });
    let (cmd, opts) = (Cmd::new("true"), opts());
    let start = executor.start(&cmd, &opts);
    assert!(tokio::time::timeout(Duration::from_millis(100), start).await.is_err());
    until(&alive, 0).await;
}

/// F11
#[tokio::test]
async fn a_hundred_stops_and_a_hundred_waits_agree() {
    let (executor, _, _) = executor(NO_POOL, until_stopped);
    let execution = executor.start(&Cmd::new("true"), &opts()).await.unwrap();
    for _ in 0..100 {
        execution.cancel();
    }
    let mut durations = Vec::new();
    for _ in 0..100 {
        let outcome = execution.wait().await.unwrap();
        assert_eq!(outcome.ended, Ended::Cancelled);
        durations.push(outcome.duration);
    }
    durations.dedup();
    assert_eq!(durations.len(), 1);
    execution.cancel();
}

/// F9: a caller that stops reading holds a bounded number of bytes, and can still stop the run.
#[tokio::test]
async fn output_stops_at_the_window_until_it_is_read() {
    let (sent_sender, sent) = tokio::sync::watch::channel(0usize);
    let (executor, _, _) = executor(NO_POOL, move |mut cell: FakeCell| {
        let sent = sent_sender.clone();
        async move {
            cell.become_ready().await;
            let run = cell.start_one().await.unwrap_or(1);
            let piece = vec![7; 128 * 1024];
            assert_eq!(cell.hear().await, Some(Heard::Other(run)), "the first credit");
            // A cell that respects its credit of two mebibytes.
            for _ in 0..16 {
                cell.say(run, FromCell::Stdout(&piece)).await;
                sent.send_modify(|sent| *sent += 128 * 1024);
            }
            // More only after new credit.
            while let Some(heard) = cell.hear().await {
                match heard {
                    Heard::Other(_) if *sent.borrow() == 2 << 20 => {
                        cell.say(run, FromCell::Stdout(&piece)).await;
                        sent.send_modify(|sent| *sent += 128 * 1024);
                        cell.finish(run).await;
                    }
                    Heard::Stop(run) => cell.finish(run).await,
                    _ => {}
                }
            }
        }
    });
    let execution = executor.start(&Cmd::new("true"), &opts()).await.unwrap();
    sent.clone().wait_for(|sent| *sent >= 2 << 20).await.unwrap();
    let result = execution.collect(&exec_core::Capture::default()).await.unwrap();
    assert_eq!(result.stdout.total(), (2 << 20) + 128 * 1024);
}
