//! From a request to its cell: resolved once, prepared before the cell is made, never in a cell that lacks a fence.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use exec_cell::{CellExecutor, PoolConfig};
use exec_core::{Cmd, ExecOpts, Executor, SessionName, WorkspaceMode};

use crate::fake::{FakeMaker, executor, maker, obedient, until};

const POOL: PoolConfig = PoolConfig { per_spec: 1, total: 3, idle: Duration::from_secs(600) };

fn counting() -> (CellExecutor<FakeMaker>, Arc<AtomicUsize>, Arc<AtomicUsize>) {
    let maker = maker(obedient);
    let (made, resolved) = (Arc::clone(&maker.made), Arc::clone(&maker.resolved));
    (CellExecutor::new(maker, POOL), made, resolved)
}

fn new_repository(workspace: &Path) {
    fs::create_dir_all(workspace.join(".git/objects")).unwrap();
    fs::write(workspace.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
}

#[tokio::test]
async fn a_run_resolves_its_plan_once() {
    let (executor, made, resolved) = counting();
    let opts = ExecOpts::in_workspace(env!("CARGO_MANIFEST_DIR"))
        .with_workspace_mode(WorkspaceMode::ReadOnly { writable: Vec::new() });
    for run in 1..=2 {
        executor.run(&Cmd::new("true"), &opts).await.unwrap();
        // The pool makes the next cell without a plan.
        until(&made, 1 + run).await;
        assert_eq!(resolved.load(Ordering::SeqCst), run);
    }
    let session = opts.in_session(SessionName::new("s"));
    for run in 3..=4 {
        executor.run(&Cmd::new("true"), &session).await.unwrap();
        assert_eq!(resolved.load(Ordering::SeqCst), run);
    }
}

#[tokio::test]
async fn a_cell_made_ahead_resolves_once_and_so_does_its_run() {
    let (executor, made, resolved) = counting();
    let opts = ExecOpts::in_workspace(env!("CARGO_MANIFEST_DIR"))
        .with_workspace_mode(WorkspaceMode::ReadOnly { writable: Vec::new() });
    executor.prepare_first(&opts).await.unwrap();
    assert_eq!((made.load(Ordering::SeqCst), resolved.load(Ordering::SeqCst)), (1, 1));
    executor.start(&Cmd::new("true"), &opts).await.unwrap();
    assert_eq!((made.load(Ordering::SeqCst), resolved.load(Ordering::SeqCst)), (1, 2));
}

/// A13
#[tokio::test]
async fn what_a_cell_needs_is_made_before_the_cell() {
    let workspace = tempfile::tempdir().unwrap();
    let hooks = workspace.path().canonicalize().unwrap().join(".git/hooks");
    new_repository(workspace.path());
    let (executor, made, _) = executor(POOL, {
        let hooks = hooks.clone();
        move |cell| {
            assert!(hooks.is_dir());
            obedient(cell)
        }
    });
    let opts = ExecOpts::in_workspace(workspace.path());
    executor.warm(&opts.clone().with_cwd("nowhere")).await.unwrap_err();
    assert!(!hooks.exists(), "a refused run prepares nothing");
    executor.warm(&opts).await.unwrap();
    assert!(hooks.is_dir());
    assert_eq!(made.load(Ordering::SeqCst), 1);
}

/// A32: an image is built while a plan is adjusted, by programs that must not be found in a workspace.
#[tokio::test]
async fn a_workspace_is_noted_before_its_plan_is_adjusted() {
    let workspace = tempfile::tempdir().unwrap();
    let maker = maker(obedient);
    let early = Arc::clone(&maker.adjusted_early);
    let executor = CellExecutor::new(maker, POOL);
    let read_only = ExecOpts::in_workspace(workspace.path())
        .with_workspace_mode(WorkspaceMode::ReadOnly { writable: Vec::new() });
    executor.run(&Cmd::new("true"), &read_only).await.unwrap();
    assert_eq!(early.load(Ordering::SeqCst), 1, "the control: no command could write it");
    executor.run(&Cmd::new("true"), &ExecOpts::in_workspace(workspace.path())).await.unwrap();
    assert_eq!(early.load(Ordering::SeqCst), 1);
}

/// A39: a cell without fences is warm when its workspace becomes a repository.
#[tokio::test]
async fn a_cell_made_before_there_was_a_repository_is_not_used() {
    let workspace = tempfile::tempdir().unwrap();
    let (executor, made, _) = executor(POOL, obedient);
    let opts = ExecOpts::in_workspace(workspace.path());
    executor.prepare_first(&opts).await.unwrap();
    new_repository(workspace.path());
    executor.run(&Cmd::new("true"), &opts).await.unwrap();
    assert!(made.load(Ordering::SeqCst) >= 2);
}

/// A39: the session then continues in another cell.
#[tokio::test]
async fn a_session_that_began_before_there_was_a_repository_is_reopened() {
    let workspace = tempfile::tempdir().unwrap();
    let (executor, made, _) = executor(PoolConfig { per_spec: 0, ..POOL }, obedient);
    let opts = ExecOpts::in_workspace(workspace.path()).in_session(SessionName::new("s"));
    executor.run(&Cmd::new("true"), &opts).await.unwrap();
    new_repository(workspace.path());
    for _ in 0..2 {
        executor.run(&Cmd::new("true"), &opts).await.unwrap();
        assert_eq!(made.load(Ordering::SeqCst), 2, "once, not for every run");
    }
}
