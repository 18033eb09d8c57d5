//! Warm cells: made ahead, used once, bounded, checked, and ended when they are no longer needed.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::fake::{FakeCell, executor, obedient, until};
use exec_cell::PoolConfig;
use exec_core::{Cmd, ExecOpts, Executor, SessionName};

const POOL: PoolConfig = PoolConfig { per_spec: 2, total: 3, idle: Duration::from_secs(600) };

fn opts() -> ExecOpts {
    ExecOpts::in_workspace(env!("CARGO_MANIFEST_DIR"))
        .with_workspace_mode(exec_core::WorkspaceMode::ReadOnly { writable: Vec::new() })
}

#[tokio::test]
async fn a_used_cell_is_replaced_and_never_used_again() {
    let (executor, made, alive) = executor(POOL, obedient);
    executor.warm(&opts()).await.unwrap();
    assert_eq!(made.load(Ordering::SeqCst), 2);
    for run in 1..=5 {
        assert!(executor.run(&Cmd::new("true"), &opts()).await.unwrap().success());
        until(&made, 2 + run).await;
        until(&alive, 2).await;
    }
}

#[tokio::test]
async fn the_bounds_hold_over_all_specifications() {
    let (executor, _, alive) = executor(POOL, obedient);
    for pids in 1..=6 {
        executor.warm(&opts().with_pids(pids)).await.unwrap();
        assert!(executor.health().await.unwrap().warm_cells <= 3);
    }
    until(&alive, 3).await;
}

#[tokio::test]
async fn another_specification_is_a_miss() {
    let (executor, made, _) = executor(PoolConfig { per_spec: 1, ..POOL }, obedient);
    executor.warm(&opts()).await.unwrap();
    executor.run(&Cmd::new("true"), &opts().with_pids(7)).await.unwrap();
    assert!(made.load(Ordering::SeqCst) >= 2);
    // The run's place in the pool is refilled, and no other cell is being made that would count.
    executor.warm(&opts().with_pids(7)).await.unwrap();
    // Settings that vary from command to command are not part of the specification.
    let before = executor.health().await.unwrap().warm_cells;
    let varied =
        opts().with_env("A", "b").with_timeout(Duration::from_secs(9)).with_grace(Duration::from_secs(1));
    executor.warm(&varied).await.unwrap();
    assert_eq!(executor.health().await.unwrap().warm_cells, before);
}

#[tokio::test]
async fn a_cell_that_died_in_the_pool_is_not_used() {
    let (executor, made, _) = executor(PoolConfig { per_spec: 1, ..POOL }, |mut cell: FakeCell| async move {
        cell.become_ready().await;
        // Dies unless a command comes at once.
        if let Ok(Some(run)) = tokio::time::timeout(Duration::from_millis(50), cell.start_one()).await {
            cell.finish(run).await;
        }
    });
    executor.warm(&opts()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(executor.run(&Cmd::new("true"), &opts()).await.unwrap().success());
    assert!(made.load(Ordering::SeqCst) >= 2);
}

/// A hanging cell looks alive until it is pinged.
#[tokio::test(start_paused = true)]
async fn a_cell_that_does_not_answer_is_not_used() {
    let (executor, made, _) = executor(PoolConfig { per_spec: 1, ..POOL }, {
        let first = std::sync::atomic::AtomicBool::new(true);
        move |mut cell: FakeCell| {
            let hangs = first.swap(false, Ordering::SeqCst);
            async move {
                if hangs {
                    cell.become_ready().await;
                    std::future::pending::<()>().await;
                }
                obedient(cell).await;
            }
        }
    });
    executor.warm(&opts()).await.unwrap();
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert!(executor.run(&Cmd::new("true"), &opts()).await.unwrap().success());
    assert!(made.load(Ordering::SeqCst) >= 2);
}

#[tokio::test(start_paused = true)]
async fn idle_cells_are_ended() {
    let (executor, _, alive) = executor(POOL, obedient);
    executor.warm(&opts()).await.unwrap();
    until(&alive, 2).await;
    tokio::time::sleep(POOL.idle * 2).await;
    until(&alive, 0).await;
}

#[tokio::test]
async fn cells_and_sessions_end_with_their_executor() {
    let (executor, _, alive) = executor(POOL, obedient);
    executor.warm(&opts()).await.unwrap();
    executor.run(&Cmd::new("true"), &opts().in_session(SessionName::new("s"))).await.unwrap();
    assert_eq!(executor.health().await.unwrap().sessions, 1);
    drop(executor);
    until(&alive, 0).await;
}

#[tokio::test]
async fn a_session_keeps_its_cell_and_its_options() {
    let (executor, made, _) = executor(PoolConfig { per_spec: 0, ..POOL }, obedient);
    let session = opts().in_session(SessionName::new("s"));
    for _ in 0..3 {
        executor.run(&Cmd::new("true"), &session).await.unwrap();
    }
    assert_eq!(made.load(Ordering::SeqCst), 1);
    let error = executor.run(&Cmd::new("true"), &session.clone().with_pids(3)).await.unwrap_err();
    assert!(error.to_string().contains("other mounts, limits"), "{error}");
    executor.end_session(&SessionName::new("s")).await.unwrap();
    executor.run(&Cmd::new("true"), &session.with_pids(3)).await.unwrap();
    assert_eq!(made.load(Ordering::SeqCst), 2);
}
